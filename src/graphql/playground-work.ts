/** The playground's first story: a job from the sign-up to its review. */
import { PUBLISH_COST } from '../rules/publishing.js';
import { GUARANTEED_VIEW_STAKE, SIGNUP_BONUS } from '../rules/tokens.js';
import type { Chapter } from './playground-step.js';

export const WORK_STEPS: readonly Chapter[] = [
  {
    chapter: 'A job is posted',
    steps: [
      {
        text:
          'Welcome! Press the pink button (or Ctrl-Enter), then Next, and so on to the end. An account costs nothing' +
          ` and comes with tokens: ${SIGNUP_BONUS.homeowner} for a homeowner, ${SIGNUP_BONUS.contractor} for a` +
          ` contractor. Publishing a job costs ${PUBLISH_COST.standard}, ${PUBLISH_COST.priority} or` +
          ` ${PUBLISH_COST.urgent} of them by urgency; all else is free. This step signs you up as a homeowner:` +
          ' {{random}} is new on each run, and the page remembers your token and renews it.',
        query: `
mutation SignUp($input: SignUpHomeownerInput!) {
  signUpHomeowner(input: $input) {
    token
    refreshToken
    expiresAt
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
      },
      {
        text: 'Who am I? Answers for the user who signed in last, since the Headers pane of this tab has no token.',
        query: `
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
      },
      {
        text:
          'A job begins as a draft, which only its owner sees. The page remembers its id as {{job}}, and sends' +
          ' the homeowner’s token: see the Headers pane. availableActions lists what may be done next.',
        query: `
mutation CreateJob($input: CreateJobInput!) {
  createJob(input: $input) {
    job {
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
    }
  }
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
        as: 'homeowner',
      },
      {
        text:
          `Publishing opens the job to contractors, and costs ${PUBLISH_COST.standard} of your` +
          ` ${SIGNUP_BONUS.homeowner} tokens at standard urgency.`,
        query: `
mutation PublishJob($id: ID!) {
  publishJob(id: $id) {
    tokensCharged
    remainingBalance
    job { id status }
  }
}`,
        variables: { id: '{{job}}' },
        as: 'homeowner',
      },
    ],
  },
  {
    chapter: 'It is awarded',
    steps: [
      {
        text: 'Somebody to do the work. The page keeps both tokens apart, as {{homeowner}} and {{contractor}}.',
        query: `
mutation SignUpContractor($input: SignUpContractorInput!) {
  signUpContractor(input: $input) {
    token
    refreshToken
    expiresAt
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
      },
      {
        text:
          'The contractor bids, which costs nothing. A guaranteed view puts the bid first in the owner’s list, and' +
          ` holds ${GUARANTEED_VIEW_STAKE} tokens until the bid or the job ends. The page remembers {{bid}}.`,
        query: `
mutation SubmitBid(
  $jobId: ID!
  $input: SubmitBidInput!
) {
  submitBid(jobId: $jobId, input: $input) {
    bid { id status amount submittedAt }
    viewer { tokens { available held } }
  }
}`,
        variables: {
          jobId: '{{job}}',
          input: {
            amount: 260,
            estimatedDurationDays: 1,
            message: 'I can come on Tuesday.',
            materialsIncluded: true,
            guaranteedView: true,
          },
        },
        as: 'contractor',
      },
      {
        text: 'The job as its owner sees it: the bids, what can be done next, and what has happened so far.',
        query: `
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
        as: 'homeowner',
      },
      {
        text: 'The owner takes the bid; every other one would be rejected.',
        query: `
mutation AwardJob($id: ID!, $input: AwardJobInput!) {
  awardJob(id: $id, input: $input) {
    job {
      id
      status
      awardedBid { id status amount }
      availableActions { action allowed reason }
    }
    viewer { tokens { available } }
  }
}`,
        variables: { id: '{{job}}', input: { bidId: '{{bid}}' } },
        as: 'homeowner',
      },
    ],
  },
  {
    chapter: 'Work and review',
    steps: [
      {
        text: 'The contractor begins. From now on both see each other’s email and phone.',
        query: `
mutation CheckIn($id: ID!, $input: CheckInJobInput) {
  checkInJob(id: $id, input: $input) {
    job {
      id
      status
      addressLine1
      homeowner { user { firstName email } }
    }
  }
}`,
        variables: { id: '{{job}}', input: { notes: 'The valve is worn out.' } },
        as: 'contractor',
      },
      {
        text: 'The contractor says that the work is done, and hands it over for review.',
        query: `
mutation SubmitForReview(
  $id: ID!
  $input: SubmitJobForReviewInput
) {
  submitJobForReview(id: $id, input: $input) {
    job { id status }
  }
}`,
        variables: { id: '{{job}}', input: { completionNotes: 'A new valve, and no drip.' } },
        as: 'contractor',
      },
      {
        text:
          'The owner accepts the work and rates it: the job is completed, the contractor is credited with it, and the' +
          ' tokens that the bid held are free again. So ends the first story.',
        query: `
mutation ApproveJob(
  $id: ID!
  $input: ApproveJobInput
) {
  approveJob(id: $id, input: $input) {
    job {
      id
      status
      awardedBid {
        hold { status releasedAt }
        contractor {
          companyName
          completedJobs
          ratingAverage
          ratingCount
        }
      }
    }
  }
}`,
        variables: { id: '{{job}}', input: { rating: 5, review: 'Quick and clean.' } },
        as: 'homeowner',
      },
    ],
  },
];
