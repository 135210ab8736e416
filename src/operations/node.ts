/** Reads any object by its identifier alone, with the same checks as the query for that kind of object. */
import { z } from 'zod';
import { refuse } from '../rules/errors.js';
import { isId } from '../rules/ids.js';
import { findPerson } from './accounts/directory.js';
import { readBid } from './bids/read.js';
import { readJob } from './jobs/read.js';
import { operation } from './operation.js';
import { anyIdInPath } from './shapes.js';
import { readTransfer } from './tokens/tokens.js';

export const readNode = operation({
  name: 'node',
  description: 'Reads anything by its identifier alone: a user, a profile, a job, a bid or a token transfer.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: anyIdInPath.describe('The identifier, with its prefix.') }),
  async run(call, { id }): Promise<object> {
    if (isId('job', id)) return readJob.run(call, { id });
    if (isId('bid', id)) return readBid.run(call, { id });
    for (const part of PERSON_ID_KINDS) if (isId(part, id)) return (await findPerson(call, id, part)).part;
    if (isId('transfer', id)) return readTransfer.run(call, { id });
    throw nothingThere();
  },
});

/** The parts of a person, each with its own identifier. */
const PERSON_ID_KINDS = ['user', 'homeowner', 'contractor'] as const;

function nothingThere() {
  return refuse('NOT_FOUND', { message: 'There is nothing with this identifier.' });
}
