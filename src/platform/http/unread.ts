/**
 * An answer stays in memory until its client has read it: within a share of bytes, for a bounded time, and only while
 * the client goes on reading.
 */
import type { ServerResponse } from 'node:http';
import type { GiveBack, Holder } from '../shares/share.js';
import type { Shares } from '../shares/shares.js';
import type { Timeouts } from '../service-limits.js';

interface Unread {
  readonly address: string;
  cut(): void;
}

export interface UnreadAnswers {
  /** Follows an answer once all of it is written to its connection. The operating system takes most answers at once. */
  follow(response: ServerResponse, holder: Holder, onCut: () => void): void;
  /**
   * Counts a part of a stream until the client has read it and it is given back. Where the caller may have no more
   * unread bytes, the stream is cut and nothing is counted. It is cut later where others need the memory, or the client
   * reads nothing in time.
   */
  hold(holder: Holder, bytes: number, cut: () => void): GiveBack;
}

export function boundUnreadAnswers({ unreadBytes, limits }: Shares, { answerMs, stalledMs }: Timeouts): UnreadAnswers {
  const waiting = new Set<Unread>();

  function followUnread(response: ServerResponse, holder: Holder, onCut: () => void): void {
    const cut = () => {
      onCut();
      response.destroy();
    };
    const giveBack = holdFor(answerMs, holder, response.writableLength, cut);
    if (!giveBack) return;
    // Node restarts this timeout whenever the client has read some bytes.
    response.setTimeout(stalledMs, cut);
    response.once('close', giveBack);
  }

  /** Undefined where the caller may have no more unread bytes: then the answer is cut at once. */
  function holdFor(ms: number, holder: Holder, bytes: number, cut: () => void): GiveBack | undefined {
    let giveBack: GiveBack;
    try {
      giveBack = unreadBytes.take(holder, bytes);
    } catch {
      cut();
      return undefined;
    }
    const unread = { address: holder.address, cut };
    waiting.add(unread);
    const timeout = setTimeout(cut, ms);
    if (unreadBytes.inUse() > (limits.unreadBytes.total ?? Infinity)) cutLargest();
    return () => {
      clearTimeout(timeout);
      waiting.delete(unread);
      giveBack();
    };
  }

  function cutLargest(): void {
    const largest = unreadBytes.largest();
    for (const one of waiting) if (one.address === largest) one.cut();
  }

  return {
    hold: (holder, bytes, cut) => holdFor(stalledMs, holder, bytes, cut) ?? (() => undefined),
    follow(response, holder, onCut) {
      response.once('prefinish', () => {
        if (response.writableLength > 0) followUnread(response, holder, onCut);
      });
    },
  };
}
