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
      reason
      tokenCost
    }
    upcoming {
      action
      at
      unless
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
        emailVerified
      }
    }
  }
`);

export const REQUEST_PASSWORD_RESET = graphql(`
  mutation RequestPasswordReset($email: String!) {
    requestPasswordReset(input: { email: $email }) {
      requested
    }
  }
`);

export const RESET_PASSWORD = graphql(`
  mutation ResetPassword($token: String!, $newPassword: String!) {
    resetPassword(input: { token: $token, newPassword: $newPassword }) {
      changed
    }
  }
`);

export const VERIFY_EMAIL = graphql(`
  mutation VerifyEmail($token: String!) {
    verifyEmail(input: { token: $token }) {
      email
    }
  }
`);

export const REQUEST_EMAIL_VERIFICATION = graphql(`
  mutation RequestEmailVerification {
    requestEmailVerification {
      requested
    }
  }
`);

export const LOG_INS = graphql(`
  query LogIns {
    viewer {
      id
      sessions(first: 20) {
        nodes {
          id
          isCurrent
        }
      }
    }
  }
`);

export const END_SESSION = graphql(`
  mutation EndSession($id: ID!) {
    endSession(id: $id) {
      session {
        id
      }
    }
  }
`);

export const END_OTHER_SESSIONS = graphql(`
  mutation EndOtherSessions {
    endOtherSessions {
      endedCount
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
            reason
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

export const TOKEN_PACKS = graphql(`
  query TokenPacks {
    catalog {
      tokenPacks {
        id
        tokens
        amount
        currency
      }
    }
  }
`);

export const BUY_TOKENS = graphql(`
  mutation BuyTokens($pack: String!, $returnUrl: String!) {
    buyTokens(input: { pack: $pack, returnUrl: $returnUrl }) {
      checkoutUrl
      purchase {
        id
        status
      }
    }
  }
`);

export const SAVED_SEARCHES = graphql(`
  query SavedSearches {
    viewer {
      id
      savedSearches(first: 10) {
        nodes {
          id
          name
          filter {
            search
          }
        }
      }
    }
  }
`);

export const SAVE_SEARCH = graphql(`
  mutation SaveSearch($input: CreateSavedSearchInput!) {
    createSavedSearch(input: $input) {
      savedSearch {
        id
        name
        filter {
          search
        }
      }
    }
  }
`);

export const DELIVERIES = graphql(`
  query Deliveries {
    webhookEndpoints(first: 1) {
      nodes {
        id
        url
        deliveries(first: 20) {
          nodes {
            id
            eventType
            position
            previousPosition
            attempts {
              number
            }
          }
        }
      }
    }
  }
`);

export const REPLAY = graphql(`
  mutation Replay($endpointId: ID!, $after: String!, $until: String) {
    replayEvents(endpointId: $endpointId, after: $after, until: $until) {
      replayedCount
      nextAfter
    }
  }
`);
