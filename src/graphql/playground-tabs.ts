/**
 * The stories of the playground, one tab for each step. A step can be run unchanged once those before it have run, and
 * all of them can be run again. The bar above the tabs describes the step.
 */
import { parse } from 'graphql';
import { DISPUTE_STEPS } from './playground-dispute.js';
import { EXTRA_STEPS } from './playground-extras.js';
import type { Chapter, Step } from './playground-step.js';
import { WORK_STEPS } from './playground-work.js';

export interface StarterTab {
  readonly query: string;
  readonly variables?: string;
  readonly headers?: string;
}

export interface StarterStep {
  /** The name of its operation, which GraphiQL shows as the name of the tab. */
  readonly name: string;
  readonly chapter: string;
  readonly text: string;
}

const CHAPTERS: readonly Chapter[] = [...WORK_STEPS, ...DISPUTE_STEPS, ...EXTRA_STEPS];
const STEPS = CHAPTERS.flatMap(({ chapter, steps }) => steps.map((step) => ({ ...step, chapter })));

export const STARTER_TABS: readonly StarterTab[] = STEPS.map(tab);

export const STARTER_STEPS: readonly StarterStep[] = STEPS.map(({ query, chapter, text }) => ({
  name: nameOf(query),
  chapter,
  text,
}));

function tab({ query, variables, as, headers = as && { authorization: `Bearer {{${as}}}` } }: Step): StarterTab {
  return {
    query: query.trim(),
    ...(variables && { variables: JSON.stringify(variables, null, 2) }),
    ...(headers && { headers: JSON.stringify(headers, null, 2) }),
  };
}

function nameOf(query: string): string {
  const [definition] = parse(query).definitions;
  if (definition?.kind !== 'OperationDefinition' || !definition.name)
    throw new Error(`A tab of the playground has no name: ${query}`);
  return definition.name.value;
}
