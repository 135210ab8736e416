/** Webhooks that point back at the server. Each event becomes five requests to it. */
import type { Row } from '../ground.js';
import { graphql, post } from './requests.js';

const OWNERS = 10;

function selfPointing(name: string, path: string): Row {
  return {
    name,
    who: 'a few accounts',
    attacks: async ({ homeownerWithWebhooksTo }) => {
      const owners = await Promise.all(Array.from({ length: OWNERS }, () => homeownerWithWebhooksTo(path)));
      return [
        {
          kind: 'calls',
          connections: OWNERS,
          tokens: owners.map(({ token }) => token),
          requests: [
            post('/v1/jobs', { title: 'A draft', description: 'It drips.' }),
            graphql('mutation { createJob(input: { title: "A draft", description: "It drips." }) { job { id } } }'),
          ],
        },
      ];
    },
  };
}

export const WEBHOOKS: readonly Row[] = [
  selfPointing('webhooks that lead back to GraphQL', '/graphql'),
  selfPointing('webhooks that lead back to the login', '/v1/auth/login'),
];
