/**
 * The part of the product's schema that the bench uses, copied word for word from `schema/api.graphql` without the
 * descriptions.
 */
export const TYPE_DEFS = `
scalar DateTime
scalar Date
scalar JSON

enum JobStatus { DRAFT OPEN AWARDED IN_PROGRESS IN_REVIEW COMPLETED DISPUTED ESCALATED DECISION_REACHED APPEALED
  CANCELLED }
enum BidStatus { PENDING VIEWED SHORTLISTED ACCEPTED REJECTED WITHDRAWN }
enum Urgency { STANDARD PRIORITY URGENT }
enum UserType { HOMEOWNER CONTRACTOR ADMIN }

type User { id: ID! email: String userType: UserType! firstName: String! lastName: String! }
type Homeowner { id: ID! city: String state: String zipCode: String user: User }
type Contractor {
  id: ID! companyName: String verified: Boolean! completedJobs: Int! ratingAverage: Float ratingCount: Int! user: User
}
type TokenBalance { balance: Int! held: Int! available: Int! }
type Viewer { user: User! homeowner: Homeowner contractor: Contractor tokens: TokenBalance! referralCode: String! }

type PageInfo { hasNextPage: Boolean! endCursor: String }
type Bid {
  id: ID! amount: Float! status: BidStatus! message: String estimatedDurationDays: Int guaranteedView: Boolean!
    createdAt: DateTime! contractor: Contractor
}
type BidConnection { nodes: [Bid!]! pageInfo: PageInfo! }
type JobEvent { sequence: Int! type: String! fromStatus: JobStatus toStatus: JobStatus occurredAt: DateTime! data:
  JSON! }
type JobEventConnection { nodes: [JobEvent!]! pageInfo: PageInfo! }
type AvailableAction { action: String! allowed: Boolean! reason: String }
type Job {
  id: ID! title: String! description: String! status: JobStatus! category: String urgency: Urgency budgetMin: Float
    budgetMax: Float
  addressLine1: String city: String state: String zipCode: String country: String latitude: Float longitude: Float
  desiredStartDate: Date desiredCompletionDate: Date requirements: String version: Int! bidCount: Int! createdAt:
    DateTime! updatedAt: DateTime!
  homeowner: Homeowner awardedBid: Bid myBid: Bid
  bids(first: Int): BidConnection!
  timeline(first: Int): JobEventConnection!
  availableActions: [AvailableAction!]!
}
type JobConnection { nodes: [Job!]! pageInfo: PageInfo! }
type PublishJobPayload { job: Job! tokensCharged: Int! remainingBalance: Int! }

type AwardJobPayload { job: Job! }
type CheckInJobPayload { job: Job! }

input JobFilter { status: JobStatus }
input AwardJobInput { bidId: ID! }
input CheckInJobInput { notes: String }

type Query {
  jobs(filter: JobFilter, first: Int): JobConnection
  job(id: ID!): Job
  viewer: Viewer
}
type Mutation {
  publishJob(id: ID!): PublishJobPayload!
  awardJob(id: ID!, input: AwardJobInput!): AwardJobPayload!
  checkInJob(id: ID!, input: CheckInJobInput): CheckInJobPayload!
}
`;
