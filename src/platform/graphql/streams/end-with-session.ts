/** Ends a stream when its session ends, or some time after its access token has expired. */
import type { Caller } from '../../call/caller.js';

/** The longest delay of a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Returns a function that stops waiting for either. */
export function endWithSession(
  { services, tokenExpiresAt }: Pick<Caller, 'services' | 'tokenExpiresAt'>,
  { sessionId }: { readonly sessionId: string },
  afterExpiryMs: number,
  end: (end: 'session_ended' | 'token_expired') => void,
): () => void {
  const stopFollowing = services.live.sessions.follow(sessionId, () => end('session_ended'));
  if (!tokenExpiresAt) return stopFollowing;
  const leftMs = Math.min(tokenExpiresAt.getTime() + afterExpiryMs - Date.now(), TIMER_MS_MAX);
  const expiry = setTimeout(() => end('token_expired'), leftMs);
  return () => {
    stopFollowing();
    clearTimeout(expiry);
  };
}
