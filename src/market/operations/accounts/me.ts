/** Reads and edits the caller's own account, which the caller can read in full. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { CONTRACTOR, HOMEOWNER, USER } from '../../rules/entities/people.js';
import { entityInput, settledFields } from '../../../platform/fields/entity.js';
import { refuse } from '../../rules/errors.js';
import { unauthenticated } from '../../../platform/errors.js';
import { changedReadOnly, readOnly } from '../../../platform/fields/read-only.js';
import type { Viewer } from '../../rules/viewer.js';
import {
  EDITABLE_CONTRACTOR,
  EDITABLE_HOMEOWNER,
  EDITABLE_USER,
  markProfileEdited,
  selectAccount,
  updateContractor,
  updateHomeowner,
  updateUser,
  type Contractor,
  type Homeowner,
  type User,
} from '../../store/accounts/accounts.js';
import type { Db } from '../../../platform/db/database.js';
import type { Balance } from '../../store/ledger/ledger.js';
import { operation } from '../operation.js';
import { lockOwnAccount } from './own-account.js';
import { emptyInput } from '../../../platform/fields/shapes.js';
import { contractorInputs, homeownerInputs, readableByOneself, userInputs } from '../people/people.js';

export interface Me {
  user: User;
  homeowner: Homeowner | null;
  contractor: Contractor | null;
  tokens: Balance;
  referralCode: string;
}

export const readMe = operation({
  name: 'viewer',
  description: 'Returns your own account: your user, profile, tokens, and referral code.',
  allows: 'signed in',
  budget: 'read',
  input: emptyInput,
  run: ({ db, viewer }) => me(db, viewer),
});

async function me(db: Db, { userId }: Viewer): Promise<Me> {
  const [account] = await selectAccount(db, { userId });
  if (!account) throw unauthenticated('session_ended');
  return { ...account, user: readableByOneself(account.user) };
}

const READ_ONLY = {
  me: ['tokens', 'referralCode'],
  user: settledFields(USER),
  homeowner: settledFields(HOMEOWNER),
  contractor: settledFields(CONTRACTOR),
} as const;

export const updateProfile = operation({
  name: 'updateProfile',
  description: 'Edits your name, contact details, and profile. Omitted fields are unchanged; null clears a field.',
  allows: 'signed in',
  budget: 'write',
  input: z.strictObject({
    user: entityInput(USER, { ...userInputs, ...readOnly(READ_ONLY.user) })
      .nullish()
      .describe('The user.'),
    homeowner: entityInput(HOMEOWNER, { ...homeownerInputs, ...readOnly(READ_ONLY.homeowner) })
      .nullish()
      .describe('A homeowner’s profile.'),
    contractor: entityInput(CONTRACTOR, { ...contractorInputs, ...readOnly(READ_ONLY.contractor) })
      .nullish()
      .describe('A contractor’s profile.'),
    ...readOnly(READ_ONLY.me),
  }),
  nullClears: true,
  run: ({ db, viewer }, input) =>
    db.inTransaction(async (tx) => {
      await lockOwnAccount(tx, viewer);
      const account = await me(tx, viewer);
      refuseReadOnlyChanges(input, account);
      const user = changedRow(account.user, input.user, EDITABLE_USER);
      const homeowner = changedRow(account.homeowner, input.homeowner, EDITABLE_HOMEOWNER);
      const contractor = changedRow(account.contractor, input.contractor, EDITABLE_CONTRACTOR);
      if (user) await updateUser(tx, user);
      if (homeowner) await updateHomeowner(tx, homeowner);
      if (contractor) await updateContractor(tx, contractor);
      if (user ?? homeowner ?? contractor) await markProfileEdited(tx, { userId: viewer.userId });
      return me(tx, viewer);
    }),
});

type Part = 'user' | 'homeowner' | 'contractor';

/** A single refusal names every field that the service sets or that belongs to another role. */
function refuseReadOnlyChanges(input: { [P in Part]?: object | null }, account: Pick<Me, Part>): void {
  const fields: Record<string, string> = {};
  for (const name of changedReadOnly(READ_ONLY.me, input, account)) fields[name] = SET_BY_THE_SERVICE;
  for (const part of ['user', 'homeowner', 'contractor'] as const) {
    const partInput = input[part];
    const row = account[part];
    if (!partInput) continue;
    if (!row) fields[part] = `isn’t part of a ${account.user.userType}’s account`;
    else
      for (const name of changedReadOnly(READ_ONLY[part], partInput, row))
        fields[`${part}.${name}`] = SET_BY_THE_SERVICE;
  }
  if (Object.keys(fields).length > 0) throw refuse('VALIDATION_FAILED', { fields });
}

const SET_BY_THE_SERVICE = 'is set by the service and can’t be changed';

/** Undefined if nothing changes. An omitted field keeps its value. */
function changedRow<Row extends { id: string }, K extends keyof Row>(
  row: Row | null,
  input: Partial<Pick<Row, K>> | null | undefined,
  editable: readonly K[],
): Pick<Row, 'id' | K> | undefined {
  if (!row || !input) return undefined;
  const newRow = { id: row.id } as Pick<Row, 'id' | K>;
  for (const field of editable) {
    const value = input[field];
    newRow[field] = value === undefined ? row[field] : (value as (typeof newRow)[K]);
  }
  return editable.every((field) => isDeepStrictEqual(newRow[field], row[field])) ? undefined : newRow;
}
