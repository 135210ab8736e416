import { describe, expect, it } from 'vitest';
import { createActiveSessions, createRevocationFeed } from '../../../src/platform/live/revocation-feed.js';
import type { SessionId } from '../../../src/market/rules/ids.js';
import { SESSIONS_IN_MEMORY } from '../../../src/platform/service-limits.js';
import type { Viewer } from '../../../src/market/rules/viewer.js';
import type { FoundSession } from '../../../src/market/store/sessions/sessions.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

function active(session: SessionId, endsInMs = DAY_MS): () => Promise<Pick<FoundSession, 'viewer' | 'endsInMs'>> {
  const viewer: Viewer = {
    userId: 'usr_hanna',
    sessionId: session,
    role: 'homeowner',
    homeownerId: 'hmw_hanna',
    contractorId: null,
  };
  return async () => ({ viewer, endsInMs });
}

describe('an active session', () => {
  let nowMs = 0;
  let isFeedLive = true;
  const open = () => {
    nowMs = 0;
    isFeedLive = true;
    return createActiveSessions<Viewer>(
      () => isFeedLive,
      () => nowMs,
    );
  };

  it('is kept for half a minute after the database was queried', async () => {
    const sessions = open();
    await sessions.lookUp('ses_one', async () => {
      nowMs += 10_000;
      return active('ses_one')();
    });
    nowMs = 29_999;
    expect(sessions.find('ses_one')).toMatchObject({ sessionId: 'ses_one' });
    nowMs = 30_000;
    expect(sessions.find('ses_one')).toBeUndefined();
  });

  it("isn't kept longer than it lasts", async () => {
    const sessions = open();
    await sessions.lookUp('ses_one', active('ses_one', 700));
    nowMs = 699;
    expect(sessions.find('ses_one')).toBeDefined();
    nowMs = 700;
    expect(sessions.find('ses_one')).toBeUndefined();
  });

  it("isn't used while the revocation feed is silent", async () => {
    const sessions = open();
    await sessions.lookUp('ses_one', active('ses_one'));
    isFeedLive = false;
    expect(sessions.find('ses_one')).toBeUndefined();
    isFeedLive = true;
    expect(sessions.find('ses_one')).toBeDefined();
  });

  it('that has ended is refused, even by a lookup that began before', async () => {
    const sessions = open();
    await sessions.lookUp('ses_one', active('ses_one'));
    const late = sessions.lookUp('ses_one', async () => {
      sessions.forget('ses_one');
      return active('ses_one')();
    });
    expect(await late).toBeUndefined();
    expect(sessions.find('ses_one')).toBeUndefined();
  });

  it('is returned but not kept if revocations may have been missed during its lookup', async () => {
    const sessions = open();
    const during = sessions.lookUp('ses_one', async () => {
      sessions.forgetAll();
      return active('ses_one')();
    });
    expect(await during).toMatchObject({ sessionId: 'ses_one' });
    expect(sessions.find('ses_one')).toBeUndefined();
  });

  it('makes room for others: over the maximum, the least recently used one is dropped', async () => {
    const sessions = open();
    const { max } = SESSIONS_IN_MEMORY;
    expect(max).toBe(50_000);
    const named = (at: number): SessionId => `ses_${at}`;
    for (let at = 0; at <= max; at += 1) await sessions.lookUp(named(at), active(named(at)));
    expect([
      sessions.lastKnownViewer(named(0)),
      sessions.lastKnownViewer(named(1)),
      sessions.lastKnownViewer(named(max)),
    ]).toEqual([
      undefined,
      expect.objectContaining({ sessionId: named(1) }),
      expect.objectContaining({ sessionId: named(max) }),
    ]);
  });
});

describe('the revocation feed', () => {
  let nowMs = 0;
  const open = () => createRevocationFeed(() => nowMs);

  it('is live while the instance has received a heartbeat that it sent less than five seconds ago', () => {
    const feed = open();
    expect(feed.isLive()).toBe(false);
    const sent = feed.heartbeat();
    // A slow heartbeat proves only that revocations before it arrived.
    nowMs += 4_000;
    feed.onHeartbeat(sent);
    nowMs += 999;
    expect(feed.isLive()).toBe(true);
    nowMs += 1;
    expect(feed.isLive()).toBe(false);
  });

  it("doesn't mistake another instance's heartbeat for its own", () => {
    const [one, other] = [open(), open()];
    one.onHeartbeat(other.heartbeat());
    expect(one.isLive()).toBe(false);
  });

  it('is live again after a restart once the next heartbeat has arrived', () => {
    const feed = open();
    feed.onHeartbeat(feed.heartbeat());
    feed.restart();
    expect(feed.isLive()).toBe(false);
    feed.onHeartbeat(feed.heartbeat());
    expect(feed.isLive()).toBe(true);
  });
});
