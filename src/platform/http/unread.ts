/**
 * Limits unread responses by total bytes, by age, and by how long the client reads nothing. A response that waits
 * behind an earlier one counts too, because the client decides how long that one takes.
 */
import type { ServerResponse } from 'node:http';
import type { Release, Client } from '../quotas/quota.js';
import type { Quotas } from '../quotas/quotas.js';
import type { Timeouts } from '../service-limits.js';

/** Emitted by a response that is written while earlier responses on its connection are still unsent. */
export const QUEUED = 'queued';

interface Unread {
  readonly address: string;
  cut(): void;
}

export interface UnreadAnswers {
  /** Tracks a response until it's sent. The operating system takes most responses immediately. */
  follow(response: ServerResponse, client: Client, onCut: () => void): void;
  /**
   * Counts a part of a stream until it's released. Cuts off the stream if the caller's quota is used up, others need
   * the memory, or the client reads too slowly.
   */
  hold(client: Client, bytes: number, cut: () => void): Release;
}

export function boundUnreadAnswers({ unreadBytes, limits }: Quotas, { answerMs, stalledMs }: Timeouts): UnreadAnswers {
  const waiting = new Set<Unread>();

  function followUnread(response: ServerResponse, client: Client, onCut: () => void): void {
    const cut = () => {
      onCut();
      // A queued response has no connection of its own to close.
      response.req.socket.destroy();
    };
    const release = holdFor(answerMs, client, response.writableLength, cut);
    if (!release) return;
    // Node restarts this timeout whenever the client reads some bytes.
    response.setTimeout(stalledMs, cut);
    response.once('close', release);
  }

  /** Returns undefined if the caller's quota is used up. The response is then cut off. */
  function holdFor(ms: number, client: Client, bytes: number, cut: () => void): Release | undefined {
    let release: Release;
    try {
      release = unreadBytes.take(client, bytes);
    } catch {
      cut();
      return undefined;
    }
    const unread = { address: client.address, cut };
    waiting.add(unread);
    const timeout = setTimeout(cut, ms);
    if (unreadBytes.inUse() > (limits.unreadBytes.total ?? Infinity)) cutLargest();
    return () => {
      clearTimeout(timeout);
      waiting.delete(unread);
      release();
    };
  }

  function cutLargest(): void {
    const largest = unreadBytes.largest();
    for (const one of waiting) if (one.address === largest) one.cut();
  }

  return {
    hold: (client, bytes, cut) => holdFor(stalledMs, client, bytes, cut) ?? (() => undefined),
    follow(response, client, onCut) {
      let isFollowed = false;
      const begin = () => {
        if (isFollowed || response.writableLength === 0) return;
        isFollowed = true;
        followUnread(response, client, onCut);
      };
      response.once('prefinish', begin);
      response.once(QUEUED, begin);
    },
  };
}
