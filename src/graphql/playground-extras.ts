/** What the playground shows besides its stories: how errors look, and how a session goes on. */
import type { Chapter } from './playground-step.js';

export const EXTRA_STEPS: readonly Chapter[] = [
  {
    chapter: 'As it happens',
    steps: [
      {
        text:
          'A subscription goes on until you stop it. From position 0 it first sends all past events of the' +
          ' homeowner’s jobs, of which the last stays here, and then each new event. Open this page in a second' +
          ' window, take a step of the story there, and watch it come in. A client that subscribes again with the' +
          ' last position as “after” misses no event.',
        query: `
subscription WatchMyEvents($after: String) {
  myEvents(after: $after) {
    position
    type
    jobId
    fromStatus
    toStatus
    actor { name role }
    occurredAt
  }
}`,
        variables: { after: '0' },
        as: 'homeowner',
      },
    ],
  },
  {
    chapter: 'A tour of errors',
    steps: [
      {
        text:
          'These are meant to fail. Each field of a query is refused by itself; extensions has the code, the ' +
          'status that REST would answer, and further details. Quote the requestId to the operator of the ' +
          'server.',
        query: `
query SeveralErrors {
  notThere: job(id: "job_000000000000000000000000000") {
    id
  }
  tooMany: jobs(first: 1000) { totalCount }
  notForYou: users { totalCount }
  viewer { user { firstName } }
}`,
        as: 'homeowner',
      },
      {
        text: 'Wrong input: every wrong field is named at once, with what would be right.',
        query: `
mutation WrongInput($input: CreateJobInput!) {
  createJob(input: $input) { job { id } }
}`,
        variables: { input: { title: ' ', description: 'It drips.', budgetMin: -1 } },
        as: 'homeowner',
      },
      {
        text: 'The job was published before, and cannot be again. availableActions shows this beforehand.',
        query: `
mutation WrongState($id: ID!) {
  publishJob(id: $id) { job { id } }
}`,
        variables: { id: '{{job}}' },
        as: 'homeowner',
      },
      {
        text:
          'The work is the homeowner’s to judge, not the contractor’s: who may do what is checked before ' +
          'the state.',
        query: `
mutation WrongPerson($id: ID!) {
  approveJob(id: $id) { job { id } }
}`,
        variables: { id: '{{job}}' },
        as: 'contractor',
      },
      {
        text:
          'A text that is no token. The reason shows what to do: “expired” means refresh, “session_ended” means log' +
          ' in again, “malformed” and “invalid” mean that something else was sent.',
        query: `
query WrongToken {
  viewer { user { id } }
}`,
        headers: { authorization: 'Bearer nonsense' },
      },
    ],
  },
  {
    chapter: 'The session',
    steps: [
      {
        text:
          'An access token lasts 15 minutes. A refresh token gives the next pair, and is replaced by it. This page ' +
          'does so by itself; your own app does it like this. {{refresh}} is that of the user who signed in last.',
        query: `
mutation RefreshSession($input: RefreshSessionInput!) {
  refreshSession(input: $input) {
    token
    refreshToken
    expiresAt
    refreshExpiresAt
  }
}`,
        variables: { input: { refreshToken: '{{refresh}}' } },
      },
    ],
  },
];
