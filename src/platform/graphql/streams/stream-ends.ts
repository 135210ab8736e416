/** How event streams end, and how their clients react. */
import type { Caller } from '../../call/caller.js';

export type StreamChannel = 'websocket' | 'sse';

interface StreamEndRow {
  readonly description: string;
  /**
   * graphql-ws clients reconnect after 1012, 1013, and 4403, and report 4401 and 4429 to the app. Without a code, the
   * connection is cut off or stays open for its other streams.
   */
  readonly closeCode?: number;
}

export const STREAM_ENDS = {
  completed: { description: 'the client ended it' },
  left: { description: 'the connection closed, or its client no longer answered' },
  slow: { description: 'the client read too slowly' },
  session_ended: { description: 'the session has ended or the API key was revoked; log in again', closeCode: 4401 },
  token_expired: { description: 'the access token has expired; reconnect with a new one', closeCode: 4403 },
  flooding: { description: 'the client sent too many messages', closeCode: 4429 },
  draining: { description: 'this server is stopping; reconnect', closeCode: 1012 },
  failed: { description: 'the server couldn’t continue it' },
} as const satisfies Record<string, StreamEndRow>;

export type StreamEnd = keyof typeof STREAM_ENDS;

const TIMER_MS_MAX = 2 ** 31 - 1;

/** Ends a stream with its session, or some time after its token expires. Returns a function that cancels this. */
export function endWithSession(
  { services, tokenExpiresAt }: Pick<Caller, 'services' | 'tokenExpiresAt'>,
  { sessionId }: { readonly sessionId: string },
  afterExpiryMs: number,
  end: (end: 'session_ended' | 'token_expired') => void,
): () => void {
  const stopFollowing = services.live.sessionEnds.follow(sessionId, () => end('session_ended'));
  if (!tokenExpiresAt) return stopFollowing;
  const leftMs = Math.min(tokenExpiresAt.getTime() + afterExpiryMs - Date.now(), TIMER_MS_MAX);
  const expiry = setTimeout(() => end('token_expired'), leftMs);
  return () => {
    stopFollowing();
    clearTimeout(expiry);
  };
}
