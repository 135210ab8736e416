/** The transitions behind the buttons on a job's page. Each takes a string or nothing. */
import { graphql } from '../gql';
import type { JobAction } from '../gql/graphql';
import type { Graph } from './graph';

type Write = ReturnType<Graph['useWrite']>;

const PUBLISH = graphql(`
  mutation Publish($id: ID!) {
    publishJob(id: $id) {
      job {
        ...JobPage
      }
      viewer {
        ...Purse
      }
    }
  }
`);

const CHECK_IN = graphql(`
  mutation CheckIn($id: ID!, $input: CheckInJobInput) {
    checkInJob(id: $id, input: $input) {
      job {
        ...JobPage
      }
      viewer {
        ...Purse
      }
    }
  }
`);

const SUBMIT_FOR_REVIEW = graphql(`
  mutation SubmitForReview($id: ID!, $input: SubmitJobForReviewInput) {
    submitJobForReview(id: $id, input: $input) {
      job {
        ...JobPage
      }
      viewer {
        ...Purse
      }
    }
  }
`);

const APPROVE = graphql(`
  mutation Approve($id: ID!, $input: ApproveJobInput) {
    approveJob(id: $id, input: $input) {
      job {
        ...JobPage
      }
      viewer {
        ...Purse
      }
    }
  }
`);

const DISPUTE = graphql(`
  mutation Dispute($id: ID!, $input: DisputeJobInput!) {
    disputeJob(id: $id, input: $input) {
      job {
        ...JobPage
      }
      viewer {
        ...Purse
      }
    }
  }
`);

const ESCALATE = graphql(`
  mutation Escalate($id: ID!, $input: EscalateJobInput!) {
    escalateJob(id: $id, input: $input) {
      job {
        ...JobPage
      }
      viewer {
        ...Purse
      }
    }
  }
`);

const REACH_DECISION = graphql(`
  mutation ReachDecision($id: ID!, $input: ReachDecisionInput!) {
    reachDecision(id: $id, input: $input) {
      job {
        ...JobPage
      }
      viewer {
        ...Purse
      }
    }
  }
`);

const FILE_APPEAL = graphql(`
  mutation FileAppeal($id: ID!, $input: FileAppealInput!) {
    fileAppeal(id: $id, input: $input) {
      job {
        ...JobPage
      }
      viewer {
        ...Purse
      }
    }
  }
`);

const FINALIZE_APPEAL = graphql(`
  mutation FinalizeAppeal($id: ID!, $input: FinalizeAppealInput!) {
    finalizeAppeal(id: $id, input: $input) {
      job {
        ...JobPage
      }
      viewer {
        ...Purse
      }
    }
  }
`);

export const STEPS: Partial<Record<JobAction, (write: Write, id: string, text: string) => Promise<unknown>>> = {
  PUBLISH: (write, id) => write(PUBLISH, { id }),
  CHECK_IN: (write, id, text) => write(CHECK_IN, { id, input: { notes: text } }),
  SUBMIT_FOR_REVIEW: (write, id, text) => write(SUBMIT_FOR_REVIEW, { id, input: { completionNotes: text } }),
  APPROVE: (write, id, text) => write(APPROVE, { id, input: { rating: 5, review: text } }),
  DISPUTE: (write, id, text) => write(DISPUTE, { id, input: { reason: text } }),
  ESCALATE: (write, id, text) => write(ESCALATE, { id, input: { escalationReason: text } }),
  REACH_DECISION: (write, id, text) => write(REACH_DECISION, { id, input: { decision: text, ruling: text } }),
  FILE_APPEAL: (write, id, text) => write(FILE_APPEAL, { id, input: { appealReason: text } }),
  FINALIZE_APPEAL: (write, id, text) => write(FINALIZE_APPEAL, { id, input: { finalDecision: text, ruling: text } }),
};
