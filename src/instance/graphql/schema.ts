import { buildSchema } from 'graphql'

const userFields = `
    id: ID!
    username: String!
    name: String!
    state: String!
    active: Boolean!
    webUrl: String!
    avatarUrl: String
    publicEmail: String
  `.trim()

/** The part of the reference's schema that we answer (docs/contract/D §1.26 GraphQL minimum), in its names. */
export const schema = buildSchema(`
  scalar Time

  type Query {
    "The caller; null for whoever is not signed in."
    currentUser: CurrentUser
    "A project by its full path; null when there is none that the caller may see."
    project(fullPath: ID!): Project
    metadata: Metadata
    echo(text: String!): String!
  }

  type Metadata { version: String! revision: String! enterprise: Boolean! kas: Kas! }
  type Kas { enabled: Boolean! externalUrl: String version: String }

  interface User {
    ${userFields}
  }

  type CurrentUser implements User {
    ${userFields}
    bot: Boolean!
    "How many groups the caller is a member of."
    groupCount: Int!
    "The personal namespace; null for a bot."
    namespace: Namespace
  }

  type Namespace { id: ID! name: String! path: String! fullPath: ID! }

  type UserCore implements User {
    ${userFields}
  }

  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }

  type Project {
    id: ID!
    name: String!
    path: String!
    fullPath: ID!
    description: String
    visibility: String!
    archived: Boolean!
    webUrl: String!
    httpUrlToRepo: String!
    sshUrlToRepo: String!
    starCount: Int!
    createdAt: Time
    lastActivityAt: Time
    repository: Repository!
    mergeRequest(iid: String!): MergeRequest
    mergeRequests(state: MergeRequestState, first: Int, after: String): MergeRequestConnection!
    issue(iid: String!): Issue
    issues(state: IssuableState, first: Int, after: String): IssueConnection!
    pipelines(ref: String, sha: String, first: Int, after: String): PipelineConnection!
    snippets(first: Int, after: String): SnippetConnection!
  }

  type Repository { rootRef: String empty: Boolean! }

  enum IssuableState { opened closed locked all }
  enum MergeRequestState { opened closed merged locked all }

  type Issue {
    id: ID!
    iid: ID!
    title: String!
    description: String
    state: IssuableState!
    confidential: Boolean!
    webUrl: String!
    author: UserCore
    createdAt: Time!
    updatedAt: Time!
    closedAt: Time
    dueDate: Time
  }
  type IssueConnection { nodes: [Issue!]! edges: [IssueEdge!]! pageInfo: PageInfo! count: Int! }
  type IssueEdge { node: Issue! cursor: String! }

  type MergeRequest {
    id: ID!
    iid: String!
    title: String!
    description: String
    state: MergeRequestState!
    draft: Boolean!
    sourceBranch: String!
    targetBranch: String!
    diffHeadSha: String
    mergeCommitSha: String
    webUrl: String!
    author: UserCore
    createdAt: Time!
    updatedAt: Time!
    mergedAt: Time
  }
  type MergeRequestConnection {
    nodes: [MergeRequest!]!
    edges: [MergeRequestEdge!]!
    pageInfo: PageInfo!
    count: Int!
  }
  type MergeRequestEdge { node: MergeRequest! cursor: String! }

  type Pipeline {
    id: ID!
    iid: String!
    sha: String!
    ref: String!
    status: String!
    source: String!
    createdAt: Time!
    updatedAt: Time!
    startedAt: Time
    finishedAt: Time
  }
  type PipelineConnection { nodes: [Pipeline!]! edges: [PipelineEdge!]! pageInfo: PageInfo! count: Int! }
  type PipelineEdge { node: Pipeline! cursor: String! }

  enum VisibilityLevelsEnum { private internal public }

  type Snippet {
    id: ID!
    title: String!
    description: String
    fileName: String
    visibilityLevel: VisibilityLevelsEnum!
    webUrl: String!
    rawUrl: String!
    httpUrlToRepo: String
    sshUrlToRepo: String
    author: UserCore
    createdAt: Time!
    updatedAt: Time!
  }
  type SnippetConnection { nodes: [Snippet!]! edges: [SnippetEdge!]! pageInfo: PageInfo! count: Int! }
  type SnippetEdge { node: Snippet! cursor: String! }
`)
