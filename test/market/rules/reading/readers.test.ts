import { expect, test } from 'vitest';
import { relationsToPerson, type Relation } from '../../../../src/market/rules/reading/readers.js';
import type { Viewer } from '../../../../src/market/rules/viewer.js';
import { ada, carla, hannah } from '../people.js';

type Known = Partial<Record<'counterpart' | 'client', boolean>>;

test.each<[name: string, viewer: Viewer, known: Known, relations: Relation[]]>([
  ['Carla herself', carla, {}, ['self']],
  ['Hannah, of whom nothing else is known,', hannah, {}, []],
  ['Hannah, who has awarded her a job,', hannah, { counterpart: true }, ['counterpart']],
  ['Hannah, on whose job she has bid,', hannah, { client: true }, ['client']],
  ['Hannah, both,', hannah, { counterpart: true, client: true }, ['counterpart', 'client']],
  ['Ada', ada, {}, ['admin']],
])('what %s is to Carla: %3$j', (_name, viewer, known, relations) => {
  expect(relationsToPerson(viewer, carla.userId, known)).toEqual(relations);
});

test('Ada is an admin to herself too', () => {
  expect(relationsToPerson(ada, ada.userId, {})).toEqual(['self', 'admin']);
});
