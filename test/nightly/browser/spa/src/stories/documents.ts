/** One list, read in every way that its type allows. */
import { graphql } from '../../gql';

export const READS = {
  edges: graphql(`
    query Edges($first: Int, $after: String) {
      jobs(first: $first, after: $after) {
        edges {
          cursor
          node {
            id
            title
          }
        }
        pageInfo {
          hasPreviousPage
          hasNextPage
          startCursor
          endCursor
        }
      }
    }
  `),
  nodes: graphql(`
    query Nodes($first: Int, $after: String) {
      jobs(first: $first, after: $after) {
        nodes {
          id
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `),
  bareNodes: graphql(`
    query BareNodes($first: Int, $after: String) {
      jobs(first: $first, after: $after) {
        nodes {
          id
        }
      }
    }
  `),
  cursorsAndNodes: graphql(`
    query CursorsAndNodes($first: Int, $after: String) {
      jobs(first: $first, after: $after) {
        edges {
          cursor
        }
        nodes {
          id
          title
        }
      }
    }
  `),
  onEdge: graphql(`
    query OnEdge($first: Int, $after: String) {
      jobs(first: $first, after: $after) {
        edges {
          ... on JobEdge {
            node {
              id
            }
          }
        }
      }
    }
  `),
  total: graphql(`
    query Total($first: Int, $after: String) {
      jobs(first: $first, after: $after) {
        totalCount
      }
    }
  `),
  end: graphql(`
    query End($first: Int, $after: String) {
      jobs(first: $first, after: $after) {
        pageInfo {
          hasNextPage
        }
      }
    }
  `),
};

export type Read = keyof typeof READS;

/** One way to read the list, with its variables. */
export type ListRead = readonly [Read, { first?: number; after?: string }];

export const WITHOUT_ARGUMENTS = graphql(`
  query WithoutArguments {
    jobs {
      nodes {
        id
        timeline {
          nodes {
            id
          }
        }
        bids {
          edges {
            cursor
          }
        }
      }
    }
    viewer {
      id
      tokenTransactions {
        nodes {
          id
        }
      }
    }
  }
`);

export const LISTS = graphql(`
  query Lists {
    all: jobs {
      totalCount
      nodes {
        id
      }
    }
    first: jobs(first: 20) {
      nodes {
        id
      }
    }
    open: jobs(filter: { status: OPEN }) {
      nodes {
        id
      }
    }
    oldest: jobs(orderBy: OLDEST) {
      nodes {
        id
      }
    }
  }
`);

export const CREATE = graphql(`
  mutation Create($input: CreateJobInput!) {
    createJob(input: $input) {
      jobEdge {
        cursor
        node {
          id
        }
      }
    }
  }
`);

export const DELETE = graphql(`
  mutation Delete($id: ID!) {
    deleteJob(id: $id) {
      deletedJobId
    }
  }
`);

export const BIDS = graphql(`
  query Bids($jobId: ID!) {
    job(id: $jobId) {
      id
      bids {
        nodes {
          id
        }
      }
      withdrawn: bids(status: WITHDRAWN) {
        nodes {
          id
        }
      }
    }
    viewer {
      id
      bids {
        nodes {
          id
        }
      }
    }
  }
`);

export const BID = graphql(`
  mutation SendBid($jobId: ID!, $input: SubmitBidInput!) {
    submitBid(jobId: $jobId, input: $input) {
      bidEdge {
        cursor
        node {
          id
          jobId
        }
      }
      viewer {
        id
      }
    }
  }
`);

export const FIRST_EVENTS = graphql(`
  query FirstEvents {
    myEvents(first: 2) {
      nodes {
        id
        position
      }
    }
  }
`);

/** Reads one page of a bid's earlier offers. */
export const OFFERS = graphql(`
  query Offers($id: ID!, $after: String) {
    node(id: $id) {
      id
      ... on Bid {
        revisions(first: 1, after: $after) {
          nodes {
            version
            amount
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  }
`);

export const MESSAGES = graphql(`
  query Messages($id: ID!) {
    node(id: $id) {
      id
      ... on Bid {
        revisions(first: 1) {
          nodes {
            version
            message
          }
        }
      }
    }
  }
`);
