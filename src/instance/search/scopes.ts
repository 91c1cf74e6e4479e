/** What a search looks for (docs/contract/D §1.27). */
export const INSTANCE_SCOPES = [
  'projects',
  'issues',
  'merge_requests',
  'milestones',
  'users',
  'snippet_titles',
  'notes',
  'commits',
  'blobs',
  'wiki_blobs',
] as const

export const PROJECT_SCOPES = [
  'issues',
  'merge_requests',
  'milestones',
  'users',
  'notes',
  'commits',
  'blobs',
  'wiki_blobs',
] as const

export const GROUP_SCOPES = ['projects', ...PROJECT_SCOPES] as const

export type SearchScope = (typeof INSTANCE_SCOPES)[number]
