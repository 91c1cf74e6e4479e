/** What can happen, the flag of a hook that asks for it, and what `X-Svc-Event` says then (docs/contract/D §1.25). */
export const hookEvents = {
  push: { flag: 'push_events', header: 'Push Hook' },
  tag_push: { flag: 'tag_push_events', header: 'Tag Push Hook' },
  issue: { flag: 'issues_events', header: 'Issue Hook' },
  confidential_issue: { flag: 'confidential_issues_events', header: 'Confidential Issue Hook' },
  note: { flag: 'note_events', header: 'Note Hook' },
  confidential_note: { flag: 'confidential_note_events', header: 'Confidential Note Hook' },
  merge_request: { flag: 'merge_requests_events', header: 'Merge Request Hook' },
  pipeline: { flag: 'pipeline_events', header: 'Pipeline Hook' },
  job: { flag: 'job_events', header: 'Job Hook' },
  wiki_page: { flag: 'wiki_page_events', header: 'Wiki Page Hook' },
  deployment: { flag: 'deployment_events', header: 'Deployment Hook' },
  feature_flag: { flag: 'feature_flag_events', header: 'Feature Flag Hook' },
  release: { flag: 'releases_events', header: 'Release Hook' },
  milestone: { flag: 'milestone_events', header: 'Milestone Hook' },
  emoji: { flag: 'emoji_events', header: 'Emoji Hook' },
  access_token: { flag: 'resource_access_token_events', header: 'Resource Access Token Hook' },
  vulnerability: { flag: 'vulnerability_events', header: 'Vulnerability Hook' },
  alert: { flag: 'alert_events', header: 'Alert Hook' },
  repository_update: { flag: 'repository_update_events', header: 'System Hook' },
  member: { flag: 'member_events', header: 'Member Hook' },
  subgroup: { flag: 'subgroup_events', header: 'Subgroup Hook' },
  project: { flag: 'project_events', header: 'Project Hook' },
  /** Events of the instance's hooks alone: users, keys, projects and groups that are made and removed. */
  system: { flag: null, header: 'System Hook' },
} as const

export type HookEvent = keyof typeof hookEvents
export type HookFlag = NonNullable<(typeof hookEvents)[HookEvent]['flag']>

/** A value for each of some flags, by its name. */
export function byFlag<const F extends readonly HookFlag[], T>(
  names: F,
  valueFor: (flag: HookFlag) => T,
) {
  const values = Object.fromEntries(names.map((name) => [name, valueFor(name)]))
  return values as { readonly [K in F[number]]: T } // the keys are those of `names`
}

/** Flags that hooks of projects show, in their order on the wire. */
export const PROJECT_FLAGS = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'confidential_issues_events',
  'note_events',
  'confidential_note_events',
  'merge_requests_events',
  'job_events',
  'pipeline_events',
  'wiki_page_events',
  'deployment_events',
  'feature_flag_events',
  'releases_events',
  'milestone_events',
  'emoji_events',
  'resource_access_token_events',
  'vulnerability_events',
  'alert_events',
  'repository_update_events',
] as const satisfies readonly HookFlag[]

export const GROUP_FLAGS = [
  ...PROJECT_FLAGS,
  'subgroup_events',
  'member_events',
  'project_events',
] as const satisfies readonly HookFlag[]

export const SYSTEM_FLAGS = [
  'push_events',
  'tag_push_events',
  'merge_requests_events',
  'repository_update_events',
] as const satisfies readonly HookFlag[]

/** Events of projects that the instance's hooks may ask for too. */
export const SYSTEM_EVENTS: ReadonlySet<HookEvent> = new Set([
  'push',
  'tag_push',
  'merge_request',
  'repository_update',
  'system',
])
