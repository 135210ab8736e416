/**
 * An answer stays in memory until its caller has taken it: within a share of bytes, for a bounded time, and only while
 * some of it is being taken.
 */
import type { ServerResponse } from 'node:http';
import type { GiveBack, Holder } from '../shares/share.js';
import type { Shares } from '../shares/shares.js';
import type { Timeouts } from './timeouts.js';

interface Unread {
  readonly address: string;
  cut(): void;
}

export interface UnreadAnswers {
  /**
   * Follows an answer from when all of it is handed to its connection. Most are taken at once, by the operating system.
   */
  follow(response: ServerResponse, holder: Holder, onCut: () => void): void;
  /**
   * Counts a part of a stream until it is taken and given back. It is cut, and nothing counted, where the caller may
   * have no more unread, and later where others need the room or nothing of it is taken in time.
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
    let giveBack: GiveBack;
    try {
      giveBack = unreadBytes.take(holder, response.writableLength);
    } catch {
      return cut();
    }
    const unread = { address: holder.address, cut };
    waiting.add(unread);
    const timeout = setTimeout(cut, answerMs);
    // Node puts this off whenever the caller has taken some.
    response.setTimeout(stalledMs, cut);
    response.once('close', () => {
      clearTimeout(timeout);
      waiting.delete(unread);
      giveBack();
    });
    if (unreadBytes.inUse() > (limits.unreadBytes.total ?? Infinity)) cutLargest();
  }

  function cutLargest(): void {
    const largest = unreadBytes.largest();
    for (const one of waiting) if (one.address === largest) one.cut();
  }

  function hold(holder: Holder, bytes: number, cut: () => void): GiveBack {
    let giveBack: GiveBack;
    try {
      giveBack = unreadBytes.take(holder, bytes);
    } catch {
      cut();
      return () => undefined;
    }
    const unread = { address: holder.address, cut };
    waiting.add(unread);
    const timeout = setTimeout(cut, stalledMs);
    if (unreadBytes.inUse() > (limits.unreadBytes.total ?? Infinity)) cutLargest();
    return () => {
      clearTimeout(timeout);
      waiting.delete(unread);
      giveBack();
    };
  }

  return {
    hold,
    follow(response, holder, onCut) {
      response.once('prefinish', () => {
        if (response.writableLength > 0) followUnread(response, holder, onCut);
      });
    },
  };
}
