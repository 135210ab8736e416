/** The story that the playground tells, a tab a step: each runs as it stands once those to its left have run. */

export interface StarterTab {
  readonly query: string;
  readonly variables?: string;
  readonly headers?: string;
}

const homeowner = { authorization: 'Bearer {{homeowner}}' };
const contractor = { authorization: 'Bearer {{contractor}}' };

export const STARTER_TABS: readonly StarterTab[] = [
  tab({
    query: `
# 1 of 8. Welcome! Press the pink button (or Ctrl-Enter),
# then go on with the next tab, up to the awarded job.
#
# This signs you up as a homeowner. {{random}} is new on
# each run, so that each run opens a new account.
#
# The page remembers the token of the answer and sends it
# with every call whose Headers pane (below) says nothing
# else. It lasts 15 minutes; sign up again for another.
mutation SignUp($input: SignUpHomeownerInput!) {
  signUpHomeowner(input: $input) {
    token
    tokensAwarded
    user { id email userType firstName lastName }
    homeowner { id }
  }
}`,
    variables: {
      input: {
        email: 'hanna.{{random}}@example.com',
        password: 'a long enough password',
        firstName: 'Hanna',
        lastName: 'Homeowner',
      },
    },
  }),
  tab({
    query: `
# 2 of 8. Who am I? Answers for whoever signed up or
# logged in last.
query WhoAmI {
  viewer {
    user { id email userType }
    homeowner { id city }
    contractor { id companyName }
    tokens { balance held available }
    tokenTransactions(first: 5) {
      totalCount
      nodes { amount reason createdAt }
    }
    referralCode
  }
}`,
  }),
  tab({
    query: `
# 3 of 8. A job begins as a draft, which only its owner
# sees. The page remembers its id as {{job}}.
mutation CreateJob($input: CreateJobInput!) {
  createJob(input: $input) { job {
    id
    status
    title
    latitude
    longitude
    availableActions {
      action
      allowed
      reason
      missingFields
      tokenCost
    }
  } }
}`,
    variables: {
      input: {
        title: 'Repair the kitchen tap',
        description: 'It drips day and night.',
        category: 'plumbing',
        urgency: 'STANDARD',
        budgetMin: 150,
        budgetMax: 400,
        addressLine1: '1100 Congress Ave',
        city: 'Austin',
        state: 'TX',
        zipCode: '78701',
        country: 'US',
      },
    },
    headers: homeowner,
  }),
  tab({
    query: `
# 4 of 8. Publishing opens the job to contractors. It
# costs tokens: 5 of your 10, at standard urgency.
mutation PublishJob($id: ID!) {
  publishJob(id: $id) {
    tokensCharged
    remainingBalance
    job { id status }
  }
}`,
    variables: { id: '{{job}}' },
    headers: homeowner,
  }),
  tab({
    query: `
# 5 of 8. Somebody to do the work. The page keeps both
# tokens apart, as {{homeowner}} and {{contractor}}.
mutation SignUpContractor($input: SignUpContractorInput!) {
  signUpContractor(input: $input) {
    token
    tokensAwarded
    user { id email userType }
    contractor { id companyName }
  }
}`,
    variables: {
      input: {
        email: 'carl.{{random}}@example.com',
        password: 'a long enough password',
        firstName: 'Carl',
        lastName: 'Contractor',
        companyName: 'Carl & Daughters',
      },
    },
  }),
  tab({
    query: `
# 6 of 8. The contractor bids: see the Headers pane. The
# page remembers the id of the bid as {{bid}}.
mutation SubmitBid($jobId: ID!, $input: SubmitBidInput!) {
  submitBid(jobId: $jobId, input: $input) { bid {
    id
    status
    amount
    submittedAt
  } }
}`,
    variables: {
      jobId: '{{job}}',
      input: { amount: 260, estimatedDurationDays: 1, message: 'I can come on Tuesday.', materialsIncluded: true },
    },
    headers: contractor,
  }),
  tab({
    query: `
# 7 of 8. The job as its owner sees it: the bids, what
# can be done next, and what has happened so far.
query ReadJob($id: ID!) {
  job(id: $id) {
    id
    title
    status
    bidCount
    bids { nodes { id status amount message } }
    timeline { nodes { sequence type occurredAt } }
    availableActions { action allowed reason }
  }
}`,
    variables: { id: '{{job}}' },
    headers: homeowner,
  }),
  tab({
    query: `
# 8 of 8. The owner takes the bid, and every other one is
# rejected. What comes next is in availableActions.
mutation AwardJob($id: ID!, $input: AwardJobInput!) {
  awardJob(id: $id, input: $input) { job {
    id
    status
    awardedBid { id status amount }
    availableActions { action allowed reason }
  } }
}`,
    variables: { id: '{{job}}', input: { bidId: '{{bid}}' } },
    headers: homeowner,
  }),
];

function tab({ query, variables, headers }: { query: string; variables?: object; headers?: object }): StarterTab {
  return {
    query: query.trim(),
    ...(variables && { variables: JSON.stringify(variables, null, 2) }),
    ...(headers && { headers: JSON.stringify(headers, null, 2) }),
  };
}
