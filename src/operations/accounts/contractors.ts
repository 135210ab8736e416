/** Contractors as others see them, and the admin's word that one is who they say. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { verifyContractor as markVerified } from '../../store/accounts.js';
import { operation } from '../operation.js';
import { idInPath } from '../shapes.js';
import { readPeople } from './directory.js';
import { readableContractor, type ReadableContractor } from './people.js';

const input = z.strictObject({ id: idInPath('contractor').describe('The contractor.') });

export const readContractor = operation({
  name: 'contractor',
  says: 'Reads a contractor’s profile with the record of completed jobs and ratings.',
  allows: 'signed in',
  budget: 'read',
  input,
  async run({ db, viewer }, { id }): Promise<ReadableContractor> {
    const contractor = (await readPeople(db, viewer, [id])).get(id)?.contractor;
    if (!contractor) throw refuse('NOT_FOUND', { message: 'There is no such contractor.' });
    return contractor;
  },
});

export const verifyContractor = operation({
  name: 'verifyContractor',
  says: 'Marks a contractor as verified.',
  allows: ['admin'],
  budget: 'write',
  input,
  async run({ db, viewer }, { id }): Promise<ReadableContractor> {
    const [contractor] = await markVerified(db, { id });
    if (!contractor) throw refuse('NOT_FOUND', { message: 'There is no such contractor.' });
    return readableContractor(viewer, contractor);
  },
});
