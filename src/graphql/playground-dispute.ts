/** The playground's second story: a job whose work is disputed, to the admin's last word. */
import { PUBLISH_COST } from '../rules/publishing.js';
import type { Chapter } from './playground-step.js';

export const DISPUTE_STEPS: readonly Chapter[] = [
  {
    chapter: 'A second job',
    steps: [
      {
        text: 'The second story: another job of the same two people, which ends in a dispute. {{job}} is this one now.',
        query: `
mutation CreateSecondJob($input: CreateJobInput!) {
  createJob(input: $input) { job { id status title } }
}`,
        variables: {
          input: {
            title: 'Paint the fence',
            description: 'White, both sides.',
            category: 'painting',
            urgency: 'STANDARD',
            addressLine1: '1100 Congress Ave',
            city: 'Austin',
            state: 'TX',
          },
        },
        as: 'homeowner',
      },
      {
        text: `Another ${PUBLISH_COST.standard} tokens, which leaves the homeowner none.`,
        query: `
mutation PublishSecondJob($id: ID!) {
  publishJob(id: $id) {
    job { id status }
    viewer { tokens { available } }
  }
}`,
        variables: { id: '{{job}}' },
        as: 'homeowner',
      },
      {
        text: 'The same contractor bids again.',
        query: `
mutation BidAgain(
  $jobId: ID!
  $input: SubmitBidInput!
) {
  submitBid(jobId: $jobId, input: $input) {
    bid { id status amount }
  }
}`,
        variables: { jobId: '{{job}}', input: { amount: 180 } },
        as: 'contractor',
      },
      {
        text: 'And is taken again.',
        query: `
mutation AwardAgain(
  $id: ID!
  $input: AwardJobInput!
) {
  awardJob(id: $id, input: $input) {
    job { id status }
  }
}`,
        variables: { id: '{{job}}', input: { bidId: '{{bid}}' } },
        as: 'homeowner',
      },
      {
        text:
          'One document may have several mutations, which run one after the other: the work is begun and ' +
          'handed over.',
        query: `
mutation WorkAgain($id: ID!) {
  checkInJob(id: $id) { job { status } }
  submitJobForReview(id: $id) { job { status } }
}`,
        variables: { id: '{{job}}' },
        as: 'contractor',
      },
    ],
  },
  {
    chapter: 'Dispute',
    steps: [
      {
        text: 'The homeowner does not accept the work.',
        query: `
mutation DisputeJob(
  $id: ID!
  $input: DisputeJobInput!
) {
  disputeJob(id: $id, input: $input) {
    job {
      id
      status
      dispute { reason details openedAt }
    }
  }
}`,
        variables: { id: '{{job}}', input: { reason: 'It is grey.', details: 'Both sides.' } },
        as: 'homeowner',
      },
      {
        text:
          'The contractor proposes how to settle it. If the homeowner sent the same resolution, the job would be' +
          ' completed; until then it stays disputed.',
        query: `
mutation ProposeSettlement(
  $id: ID!
  $input: ResolveDisputeInput!
) {
  resolveDispute(id: $id, input: $input) {
    job {
      id
      status
      dispute { proposal { resolution proposedAt } }
    }
  }
}`,
        variables: { id: '{{job}}', input: { resolution: 'Half the price.' } },
        as: 'contractor',
      },
      {
        text: 'The homeowner wants none of it, and asks an admin to decide. Either of the two may.',
        query: `
mutation EscalateJob(
  $id: ID!
  $input: EscalateJobInput!
) {
  escalateJob(id: $id, input: $input) {
    job { id status dispute { escalation { reason } } }
  }
}`,
        variables: { id: '{{job}}', input: { escalationReason: 'I wanted it white.' } },
        as: 'homeowner',
      },
    ],
  },
  {
    chapter: 'The admin',
    steps: [
      {
        text:
          'An admin cannot sign up: the operator of the server creates one. With “npm run demo” this one exists.' +
          ' Otherwise run “npm run admin -- create <email>” on the server’s machine, with the same DATA_DIR or' +
          ' DATABASE_URL, type a password, and put both into the Variables pane. The steps up to the appeal’s end' +
          ' need this.',
        query: `
mutation LogInAsAdmin($input: LogInInput!) {
  logIn(input: $input) {
    token
    refreshToken
    expiresAt
    user { id email userType }
  }
}`,
        variables: { input: { email: 'ada@demo.example', password: 'demo password' } },
      },
      {
        text:
          'What an admin sees: disputes that wait for a decision, the newest accounts, and whether the ' +
          'tokens add up.',
        query: `
query AdminDesk {
  jobs(filter: { status: ESCALATED }, first: 5) {
    totalCount
    nodes { id title dispute { reason } }
  }
  users(first: 5) {
    totalCount
    nodes { id email userType createdAt }
  }
  auditTokens {
    ok
    accounts
    transfers
    mismatches { userId kept summed }
  }
}`,
        as: 'admin',
      },
      {
        text: 'The admin has looked at the contractor’s papers. The page kept {{contractorId}} when they signed up.',
        query: `
mutation VerifyContractor($id: ID!) {
  verifyContractor(id: $id) {
    contractor { id companyName verified }
  }
}`,
        variables: { id: '{{contractorId}}' },
        as: 'admin',
      },
      {
        text: 'The admin decides the dispute.',
        query: `
mutation ReachDecision(
  $id: ID!
  $input: ReachDecisionInput!
) {
  reachDecision(id: $id, input: $input) {
    job {
      id
      status
      dispute { decision { decision ruling } }
    }
  }
}`,
        variables: {
          id: '{{job}}',
          input: { decision: 'For the homeowner', ruling: 'Grey is not white.', resolutionTerms: 'Paint it again.' },
        },
        as: 'admin',
      },
    ],
  },
  {
    chapter: 'Appeal',
    steps: [
      {
        text: 'The contractor does not accept the decision, and appeals.',
        query: `
mutation FileAppeal(
  $id: ID!
  $input: FileAppealInput!
) {
  fileAppeal(id: $id, input: $input) {
    job { id status dispute { appeal { reason } } }
  }
}`,
        variables: { id: '{{job}}', input: { appealReason: 'It is a warm white.', supportingEvidence: 'The tin.' } },
        as: 'contractor',
      },
      {
        text: 'The admin’s last word completes the job; there is no further appeal.',
        query: `
mutation FinalizeAppeal(
  $id: ID!
  $input: FinalizeAppealInput!
) {
  finalizeAppeal(id: $id, input: $input) {
    job {
      id
      status
      dispute { finalDecision { finalDecision ruling } }
    }
  }
}`,
        variables: { id: '{{job}}', input: { finalDecision: 'The decision stands', ruling: 'The tin says grey.' } },
        as: 'admin',
      },
      {
        text: 'The whole dispute, as the two parties and admins may read it. So ends the second story.',
        query: `
query ReadDispute($id: ID!) {
  job(id: $id) {
    status
    dispute {
      reason
      proposal { resolution }
      escalation { reason }
      decision { decision ruling resolutionTerms }
      appeal { reason supportingEvidence }
      finalDecision { finalDecision ruling }
      ending { how at }
    }
    timeline(first: 50) { nodes { sequence type } }
  }
}`,
        variables: { id: '{{job}}' },
        as: 'homeowner',
      },
    ],
  },
];
