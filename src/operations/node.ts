/** Reads anything by its identifier alone. It shows nothing that the thing's own query would not show. */
import { z } from 'zod';
import { refuse } from '../rules/errors.js';
import { isId } from '../rules/ids.js';
import type { Viewer } from '../rules/viewer.js';
import { readPeople, type Person } from './accounts/directory.js';
import { readBid } from './bids/read.js';
import { readJob } from './jobs/read.js';
import { operation, type Call } from './operation.js';
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
    if (isId('user', id)) return part(call, id, 'user');
    if (isId('homeowner', id)) return part(call, id, 'homeowner');
    if (isId('contractor', id)) return part(call, id, 'contractor');
    if (isId('transfer', id)) return readTransfer.run(call, { id });
    throw nothingThere();
  },
});

async function part({ db, viewer }: Call<Viewer>, id: string, which: keyof Person): Promise<object> {
  const found = (await readPeople(db, viewer, [id])).get(id)?.[which];
  if (!found) throw nothingThere();
  return found;
}

function nothingThere() {
  return refuse('NOT_FOUND', { message: 'There is nothing with this identifier.' });
}
