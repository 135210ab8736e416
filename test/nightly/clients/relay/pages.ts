/** The Relay client's documents. relay-compiler reads them here, and the story imports its output. */
import { graphql } from 'relay-runtime';

export const NODE = graphql`
  query pagesNodeQuery($id: ID!) {
    node(id: $id) {
      id
      ... on User {
        firstName
        lastName
      }
    }
  }
`;

export const HEADER = graphql`
  query pagesHeaderQuery {
    viewer {
      id
      referralCode
      tokens {
        available
      }
      user {
        id
        email
      }
    }
  }
`;

export const JOBS = graphql`
  fragment pagesJobs_query on Query
  @argumentDefinitions(
    first: { type: "Int" }
    after: { type: "String" }
    last: { type: "Int" }
    before: { type: "String" }
  )
  @refetchable(queryName: "pagesJobsPaginationQuery") {
    jobs(first: $first, after: $after, last: $last, before: $before) @connection(key: "pages_jobs") {
      edges {
        node {
          id
          title
          status
        }
      }
    }
  }
`;

export const JOBS_PAGE = graphql`
  query pagesJobsQuery($first: Int, $after: String, $last: Int, $before: String) {
    ...pagesJobs_query @arguments(first: $first, after: $after, last: $last, before: $before)
  }
`;

export const CREATE_JOB = graphql`
  mutation pagesCreateJobMutation($input: CreateJobInput!, $connections: [ID!]!) {
    createJob(input: $input) {
      jobEdge @prependEdge(connections: $connections) {
        cursor
        node {
          id
          title
          status
        }
      }
      viewer {
        id
        tokens {
          available
        }
      }
    }
  }
`;

export const DELETE_JOB = graphql`
  mutation pagesDeleteJobMutation($id: ID!) {
    deleteJob(id: $id) {
      deletedJobId @deleteRecord
    }
  }
`;

export const PUBLISH_JOB = graphql`
  mutation pagesPublishJobMutation($id: ID!) {
    publishJob(id: $id) {
      tokensCharged
    }
  }
`;

export const EVENTS = graphql`
  subscription pagesEventsSubscription($after: String) {
    myEvents(after: $after) {
      id
      type
      position
      actor {
        id
        firstName
      }
      job {
        id
        status
      }
      bid {
        id
        status
      }
    }
  }
`;
