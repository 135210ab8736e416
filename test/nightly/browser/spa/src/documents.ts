import { graphql } from '../gql';

graphql(`
  fragment JobLine on Job {
    id
    title
    status
    bidCount
  }
`);

graphql(`
  fragment BidLine on Bid {
    id
    jobId
    amount
    status
    contractor {
      id
      companyName
    }
  }
`);

graphql(`
  fragment JobPage on Job {
    ...JobLine
    description
    version
    availableActions {
      action
      allowed
      tokenCost
    }
    bids(first: 20) {
      edges {
        cursor
        node {
          ...BidLine
        }
      }
    }
    dispute {
      reason
      ending {
        how
      }
    }
  }
`);

graphql(`
  fragment Purse on Viewer {
    id
    tokens {
      available
    }
  }
`);

export const WHO = graphql(`
  query Who {
    viewer {
      ...Purse
      referralCode
      tokens {
        balance
        held
      }
      user {
        id
        firstName
        userType
      }
    }
  }
`);

export const JOBS = graphql(`
  query Jobs {
    jobs(first: 20) {
      totalCount
      edges {
        cursor
        node {
          ...JobLine
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

export const JOB = graphql(`
  query Job($id: ID!) {
    job(id: $id) {
      ...JobPage
      timeline(first: 100) {
        edges {
          cursor
          node {
            id
            position
          }
        }
      }
      homeowner {
        id
        user {
          id
          firstName
        }
      }
    }
  }
`);

export const CREATE_JOB = graphql(`
  mutation CreateJob($input: CreateJobInput!) {
    createJob(input: $input) {
      jobEdge {
        cursor
        node {
          ...JobLine
        }
      }
      viewer {
        ...Purse
      }
    }
  }
`);

export const SUBMIT_BID = graphql(`
  mutation SubmitBid($jobId: ID!, $input: SubmitBidInput!) {
    submitBid(jobId: $jobId, input: $input) {
      bidEdge {
        cursor
        node {
          ...BidLine
        }
      }
      bid {
        id
        job {
          id
          bidCount
          availableActions {
            action
            allowed
            tokenCost
          }
        }
      }
      viewer {
        ...Purse
      }
    }
  }
`);

export const AWARD = graphql(`
  mutation Award($id: ID!, $bidId: ID!) {
    awardJob(id: $id, input: { bidId: $bidId }) {
      job {
        ...JobPage
      }
      viewer {
        ...Purse
      }
    }
  }
`);

export const JOB_EVENTS = graphql(`
  subscription JobEvents($jobId: ID!, $after: String) {
    event: jobEvents(jobId: $jobId, after: $after) {
      id
      position
    }
  }
`);

export const MY_EVENTS = graphql(`
  subscription MyEvents($after: String) {
    event: myEvents(after: $after) {
      id
      position
      actorId
    }
  }
`);
