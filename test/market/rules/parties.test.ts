import { describe, expect, test } from 'vitest';
import type { AllowedActor } from '../../../src/market/rules/lifecycle.js';
import type { BidState, JobState } from '../../../src/market/rules/states.js';
import {
  allowedRoles,
  admitsParty,
  receivesJobEvents,
  mayActOnBid,
  partyOf,
  partyToOwn,
  PARTIES,
  relationsToJob,
  seesBid,
  seesJob,
} from '../../../src/market/rules/parties.js';
import type { Party } from '../../../src/market/rules/parties.js';
import type { Relation } from '../../../src/market/rules/reading/readers.js';
import type { Role, Viewer } from '../../../src/market/rules/viewer.js';
import { ada, carla, cyrus, hannah, hugo, kitchen } from './people.js';

describe('who someone is to the kitchen', () => {
  test.each<[name: string, viewer: Viewer, status: JobState, hasBid: boolean, party: Party]>([
    ['Hannah, who posted it,', hannah, 'draft', false, 'owner'],
    ['Hugo, another homeowner,', hugo, 'open', false, 'stranger'],
    ['Ada', ada, 'draft', false, 'admin'],
    ['Carla before her bid', carla, 'open', false, 'onlooker'],
    ['Carla, having bid,', carla, 'open', true, 'bidder'],
    ['Carla, awarded,', carla, 'awarded', true, 'awardee'],
    ['Carla, awarded, after all is over,', carla, 'completed', true, 'awardee'],
    ['Cyrus, who bid in vain,', cyrus, 'in_progress', true, 'bidder'],
    ['Cyrus, who never bid,', cyrus, 'awarded', false, 'stranger'],
    ['Cyrus before a draft', cyrus, 'draft', false, 'stranger'],
  ])('%s is its %5$s', (_name, viewer, status, hasBid, party) => {
    expect(partyOf(viewer, kitchen(status), hasBid)).toBe(party);
    expect(seesJob(viewer, kitchen(status), hasBid)).toBe(party !== 'stranger');
  });
});

test.each<[name: string, viewer: Viewer, status: JobState, ownBids: BidState[], mine: boolean]>([
  ['Hannah, who posted it', hannah, 'draft', [], true],
  ['Hugo, another homeowner', hugo, 'open', [], false],
  ['Ada', ada, 'draft', [], true],
  ['Carla before her bid', carla, 'open', [], false],
  ['Carla, having bid', carla, 'open', ['pending'], true],
  ['Carla, having withdrawn her bid', carla, 'open', ['withdrawn'], false],
  ['Carla, having bid again', carla, 'open', ['withdrawn', 'viewed'], true],
  ['Carla, awarded', carla, 'awarded', ['accepted'], true],
  ['Cyrus, who bid in vain', cyrus, 'in_progress', ['rejected'], true],
])("whether someone receives the kitchen's events: %s", (_name, viewer, status, ownBids, mine) => {
  expect(receivesJobEvents(viewer, kitchen(status), ownBids)).toBe(mine);
});

test.each<[name: string, viewer: Viewer, status: JobState, relations: Relation[]]>([
  ['Hannah', hannah, 'draft', ['owner']],
  ['Ada', ada, 'draft', ['admin']],
  ['Hugo', hugo, 'open', []],
  ['Carla, not yet awarded,', carla, 'open', []],
  ['Carla, awarded,', carla, 'awarded', ['awardee']],
  ['Cyrus, who bid in vain,', cyrus, 'awarded', []],
])("%s reads the kitchen's private fields as: %3$j", (_name, viewer, status, relations) => {
  expect(relationsToJob(viewer, kitchen(status))).toEqual(relations);
});

test.each<[role: Role, isAwardedTo: boolean, party: Party]>([
  ['homeowner', false, 'owner'],
  ['contractor', false, 'bidder'],
  ['contractor', true, 'awardee'],
  ['admin', false, 'admin'],
])("a %s who receives a job's events (awarded to them: %j) is its %s", (role, isAwardedTo, party) => {
  expect(partyToOwn(role, isAwardedTo)).toBe(party);
});

test('the actor words allow the roles in the specification', () => {
  expect(allowedRoles('owner')).toEqual(['homeowner']);
  expect(allowedRoles('awardee')).toEqual(['contractor']);
  expect(allowedRoles('parties')).toEqual(['homeowner', 'contractor']);
  expect(allowedRoles('contractor')).toEqual(['contractor']);
  expect(allowedRoles('bidder')).toEqual(['contractor']);
  expect(allowedRoles('admin')).toEqual(['admin']);
});

test.each<[actor: AllowedActor, admitted: Party[]]>([
  ['owner', ['owner']],
  ['awardee', ['awardee']],
  ['parties', ['owner', 'awardee']],
  ['bidder', ['awardee', 'bidder']],
  ['contractor', ['awardee', 'bidder', 'onlooker']],
  ['admin', ['admin']],
])('what is for the %s is for %j, and never for a stranger', (actor, admitted) => {
  expect(PARTIES.filter((party) => admitsParty(actor, party))).toEqual(admitted);
});

describe("Carla's bid on the kitchen", () => {
  const may = (actor: AllowedActor, viewer: Viewer) =>
    mayActOnBid(actor, viewer, { contractorId: carla.contractorId }, kitchen('open'));

  test.each<[actor: 'owner' | 'bidder', name: string, viewer: Viewer, may: boolean]>([
    ['owner', 'Hannah', hannah, true],
    ['owner', 'Hugo', hugo, false],
    ['owner', 'Carla', carla, false],
    ['owner', 'Ada', ada, false],
    ['bidder', 'Carla', carla, true],
    ['bidder', 'Cyrus', cyrus, false],
    ['bidder', 'Hannah', hannah, false],
    ['bidder', 'Ada', ada, false],
  ])('for the %s is for %s: %4$j', (actor, _name, viewer, expected) => {
    expect(may(actor, viewer)).toBe(expected);
  });

  test('is visible to her, Hannah, and Ada', () => {
    const sees = (viewer: Viewer) => seesBid(viewer, { contractorId: carla.contractorId }, kitchen('open'));
    expect([hannah, hugo, carla, cyrus, ada].filter(sees)).toEqual([hannah, carla, ada]);
  });

  test('has no other parties', () => {
    for (const actor of ['awardee', 'parties', 'contractor', 'admin'] as const) {
      for (const viewer of [hannah, carla, ada]) expect(may(actor, viewer)).toBe(false);
    }
  });
});
