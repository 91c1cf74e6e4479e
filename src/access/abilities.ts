import type { Feature } from './features.ts'
import { Role } from './roles.ts'

/**
 * What may hold between a caller and a record, beside the caller's role. The resource's `access.ts` says whether it does;
 * the rules below say what follows.
 */
const recordConditions = {
  author: 'the caller wrote the record',
  author_of_issue: 'the caller wrote the record, and it is no incident',
  assignee: 'the record is assigned to the caller',
  reviewer: 'the caller reviews the record',
  oneself: 'the record is the caller, or belongs to the caller',
  external: 'the caller is an external user',
  last_owner: 'the record is the last owner of its group or project',
  above: 'the record stands above the caller',
  bot: 'the record is about the bot of an access token',
  for_developers: 'the record is open to Developers',
  for_maintainers: 'the record is open to Maintainers',
  for_owners: 'the record is open to Owners',
  owned: 'the record belongs to this project alone',
  system: 'the record was written by the server',
  confidential: 'the record is confidential',
  collaboration: 'a merge request allows the caller to push to its branch',
  locked: 'the discussion is locked, and the caller is no member',
} as const

export type RecordCondition = keyof typeof recordConditions

/**
 * What it takes to do a thing: the least role of a member, and whether visibility alone is enough (`anyone` who can see
 * the subject, or `signed_in` ones). `feature` is refused when switched off for the caller, of several when all are.
 * `write` is refused on an archived subject unless `archived` allows it. `when` names the least role of callers for whom
 * a condition of the record holds (0: whoever is signed in and sees it); `unless` the conditions under which nobody may.
 */
export interface Rule {
  readonly role: number
  readonly when?: Readonly<Partial<Record<RecordCondition, number>>>
  readonly unless?: readonly RecordCondition[]
  /** A role above the least that may not all the same (wikis, docs/contract/D §2.2). */
  readonly except?: number
  readonly visitor?: 'anyone' | 'signed_in'
  /** Of groups: for everybody who sees the group, by a membership below it too; lists show what the caller sees. */
  readonly seen?: true
  readonly feature?: Feature | readonly Feature[]
  readonly write?: true
  readonly archived?: true
}

const { none, guest, planner, reporter, developer, maintainer, owner, admin } = Role

/** Project abilities (docs/contract/D §2.2). The one table that the API, transports, registries and CI ask. */
export const projectAbilities = {
  read_project: { role: guest, visitor: 'anyone' },
  read_members: { role: guest, visitor: 'signed_in' },
  read_code: { role: planner, visitor: 'anyone', feature: 'repository' },
  download_code: { role: planner, visitor: 'anyone', feature: 'repository' },
  read_issues: { role: guest, visitor: 'anyone', feature: 'issues' },
  create_issue: { role: guest, visitor: 'signed_in', feature: 'issues', write: true },
  create_incident: { role: reporter, feature: 'issues', write: true },
  update_issue: { role: planner, feature: 'issues', write: true },
  // Authors and assignees change their own; which fields, a condition of the endpoint says.
  edit_issue: {
    role: planner,
    when: { author: 0, assignee: 0 },
    feature: 'issues',
    write: true,
  },
  // Strangers may report, but not sort: labels, milestones and people are for members (docs/contract/D §2.2).
  sort_issue: { role: guest },
  admin_issue: { role: planner, feature: 'issues', write: true },
  delete_issue: {
    role: owner,
    when: { author_of_issue: planner },
    feature: 'issues',
    write: true,
  },
  read_merge_requests: { role: planner, visitor: 'anyone', feature: 'merge_requests' },
  create_merge_request_in: {
    role: planner,
    visitor: 'signed_in',
    feature: 'merge_requests',
    write: true,
  },
  create_merge_request_from: { role: developer, feature: 'merge_requests', write: true },
  update_merge_request: { role: developer, feature: 'merge_requests', write: true },
  approve_merge_request: { role: developer, feature: 'merge_requests', write: true },
  read_approval_rules: { role: guest },
  read_archived_approval_rules: { role: maintainer },
  admin_approval_rules: { role: maintainer, write: true },
  edit_merge_request: { role: developer, when: { author: 0 }, write: true },
  delete_merge_request: { role: owner, feature: 'merge_requests', write: true },
  create_note: { role: guest, visitor: 'signed_in', unless: ['locked'], write: true },
  change_note: { role: maintainer, when: { author: 0 }, unless: ['system'], write: true },
  read_internal_notes: { role: planner },
  resolve_discussion: { role: developer, when: { author: 0 }, write: true },
  award_emoji: { role: guest, visitor: 'signed_in', write: true },
  remove_award: { role: admin, when: { oneself: 0 }, write: true },
  upload_file: { role: guest, visitor: 'signed_in', write: true },
  read_labels: { role: guest, visitor: 'anyone', feature: ['issues', 'merge_requests'] },
  admin_label: { role: planner, feature: ['issues', 'merge_requests'], write: true },
  admin_milestone: { role: planner, feature: ['issues', 'merge_requests'], write: true },
  admin_board: { role: planner, feature: 'issues', write: true },
  read_wiki: { role: guest, visitor: 'anyone', feature: 'wiki' },
  create_wiki: { role: planner, except: reporter, feature: 'wiki', write: true },
  read_snippets: { role: guest, visitor: 'anyone', feature: 'snippets' },
  create_snippet: { role: reporter, feature: 'snippets', write: true },
  edit_snippet: { role: maintainer, when: { author: reporter }, feature: 'snippets', write: true },
  read_releases: { role: guest, visitor: 'anyone', feature: 'releases' },
  admin_release: { role: developer, feature: 'releases', write: true },
  read_builds: { role: reporter, visitor: 'anyone', feature: 'builds' },
  // For everybody who sees the project while its jobs are public; ci/pipelines/access asks for both.
  read_public_builds: { role: guest, visitor: 'anyone', feature: 'builds' },
  read_commit_status: { role: reporter, visitor: 'anyone', feature: 'builds' },
  create_commit_status: { role: developer, write: true },
  create_pipeline: { role: developer, feature: 'builds', write: true },
  delete_pipeline: { role: owner, feature: 'builds', write: true },
  admin_runners: { role: maintainer, feature: 'builds' },
  change_runners: { role: maintainer, feature: 'builds', write: true },
  admin_build: { role: maintainer, feature: 'builds', write: true },
  erase_build: { role: maintainer, when: { author: developer }, feature: 'builds', write: true },
  read_ci_variables: { role: maintainer, feature: 'builds' },
  admin_ci_variables: { role: maintainer, feature: 'builds', write: true },
  read_triggers: { role: maintainer, feature: 'builds' },
  admin_triggers: { role: maintainer, feature: 'builds', write: true },
  read_schedules: { role: reporter, feature: 'builds' },
  change_schedule: {
    role: maintainer,
    when: { author: developer },
    feature: 'builds',
    write: true,
  },
  read_job_token_scope: { role: maintainer },
  admin_job_token_scope: { role: maintainer, write: true },
  // Beside the right to read pipelines, which ci/pipelines/access asks for.
  read_environments: { role: guest, visitor: 'anyone', feature: 'environments' },
  admin_environments: { role: developer, feature: 'environments', write: true },
  read_feature_flags: { role: developer, feature: 'feature_flags' },
  admin_feature_flags: { role: developer, feature: 'feature_flags', write: true },
  read_secure_files: { role: developer, feature: 'builds' },
  admin_secure_files: { role: maintainer, feature: 'builds', write: true },
  admin_resource_groups: { role: developer, feature: 'builds', write: true },
  read_freeze_periods: { role: reporter, feature: 'builds' },
  admin_freeze_periods: { role: maintainer, feature: 'builds', write: true },
  // docs/contract/C-resolved §0.3.
  read_packages: { role: guest, visitor: 'anyone', feature: 'package_registry' },
  read_container_images: { role: guest, visitor: 'anyone', feature: 'container_registry' },
  write_container_image: { role: developer, feature: 'container_registry', write: true },
  delete_container_image: { role: developer, feature: 'container_registry', write: true },
  admin_container_images: { role: maintainer, feature: 'container_registry', write: true },
  write_package: { role: developer, feature: 'package_registry', write: true },
  delete_package: { role: maintainer, feature: 'package_registry', write: true },
  read_package_rules: { role: maintainer, feature: 'package_registry' },
  admin_package_rules: { role: maintainer, feature: 'package_registry', write: true },
  read_alerts: { role: developer, feature: 'monitor' },
  update_alerts: { role: developer, feature: 'monitor', write: true },
  test_alert_integrations: { role: developer, feature: 'monitor', write: true },
  admin_operations: { role: maintainer, feature: 'monitor', write: true },
  read_errors: { role: reporter, feature: 'monitor' },
  update_errors: { role: developer, feature: 'monitor', write: true },
  admin_error_tracking: { role: maintainer, feature: 'monitor', write: true },
  read_statistics: { role: reporter },
  fork_project: { role: planner, visitor: 'signed_in', feature: 'forking' },
  push_code: { role: developer, when: { collaboration: none }, feature: 'repository', write: true },
  force_unlock: { role: maintainer },
  // Asked by the rules on refs, of pushes and of the API alike (docs/contract/D §3.7).
  start_protected_branch: { role: maintainer },
  delete_protected_ref: { role: maintainer },
  move_tag: { role: maintainer },
  // A user or group that a protection names passes it only with the right to push at all.
  pass_named_level: { role: developer },
  create_tag: { role: developer, feature: 'repository', write: true },
  comment_commit: { role: guest, visitor: 'signed_in', feature: 'repository', write: true },
  admin_project: { role: maintainer, write: true },
  read_badges: { role: guest, visitor: 'anyone' },
  read_protections: { role: maintainer },
  read_protected_branches: { role: developer, feature: 'repository' },
  unprotect_branches: { role: developer, feature: 'repository', write: true },
  admin_protections: { role: maintainer, write: true },
  admin_members: { role: maintainer },
  // Access is given and changed only where something can be done with it; taking it away is never refused.
  add_member: { role: maintainer, write: true },
  change_member: { role: maintainer, unless: ['above'], write: true },
  remove_member: {
    role: maintainer,
    when: { oneself: 0 },
    unless: ['above', 'bot', 'last_owner'],
  },
  admin_access_requests: { role: maintainer },
  remove_access_request: { role: maintainer, when: { oneself: 0 } },
  share_project: { role: maintainer, write: true },
  end_share: { role: maintainer, unless: ['above'], write: true },
  admin_hooks: { role: maintainer, write: true },
  read_deploy_keys: { role: maintainer },
  admin_deploy_keys: { role: maintainer, write: true },
  rename_deploy_key: { role: admin, when: { owned: maintainer }, write: true },
  admin_deploy_tokens: { role: maintainer },
  create_deploy_token: { role: maintainer, write: true },
  admin_access_tokens: { role: maintainer },
  create_access_token: { role: maintainer, write: true },
  rotate_access_token: { role: maintainer, when: { oneself: 0 }, write: true },
  read_audit_events: { role: maintainer },
  admin_service_accounts: { role: maintainer },
  change_service_accounts: { role: maintainer, write: true },
  admin_uploads: { role: maintainer, write: true },
  admin_housekeeping: { role: maintainer },
  archive_project: { role: owner, archived: true },
  transfer_project: { role: owner, write: true },
  delete_project: { role: owner },
  change_visibility: { role: owner, write: true },
  remove_fork: { role: owner, write: true },
  set_timestamps: { role: owner },
  admin_only: { role: admin },
} as const satisfies Record<string, Rule>

export type ProjectAbility = keyof typeof projectAbilities

/** Group abilities (docs/contract/D §2.3). */
export const groupAbilities = {
  read_group: { role: guest, visitor: 'anyone', seen: true },
  read_members: { role: guest, visitor: 'signed_in' },
  read_labels: { role: guest, visitor: 'anyone', seen: true },
  read_issues: { role: guest, visitor: 'anyone', seen: true },
  read_merge_requests: { role: guest, visitor: 'anyone', seen: true },
  read_badges: { role: guest, visitor: 'anyone' },
  read_wiki: { role: guest, visitor: 'anyone', feature: 'wiki' },
  create_wiki: { role: planner, except: reporter, feature: 'wiki', write: true },
  admin_label: { role: planner, write: true },
  admin_milestone: { role: planner, write: true },
  admin_board: { role: planner, write: true },
  read_packages: { role: guest, visitor: 'anyone', seen: true },
  admin_package_settings: { role: owner },
  read_container_images: { role: guest, visitor: 'anyone', seen: true },
  read_deploy_tokens: { role: maintainer },
  admin_deploy_tokens: { role: owner },
  create_deploy_token: { role: owner, write: true },
  admin_access_tokens: { role: owner },
  create_access_token: { role: owner, write: true },
  rotate_access_token: { role: owner, when: { oneself: 0 }, write: true },
  read_audit_events: { role: owner },
  admin_service_accounts: { role: owner },
  change_service_accounts: { role: owner, write: true },
  admin_group: { role: owner, write: true },
  create_project: {
    role: admin,
    when: { for_developers: developer, for_maintainers: maintainer, for_owners: owner },
    write: true,
  },
  create_subgroup: { role: owner, when: { for_maintainers: maintainer }, write: true },
  admin_members: { role: owner },
  add_member: { role: owner, write: true },
  change_member: { role: owner, unless: ['above'], write: true },
  remove_member: { role: owner, when: { oneself: 0 }, unless: ['above', 'bot', 'last_owner'] },
  admin_access_requests: { role: owner },
  remove_access_request: { role: owner, when: { oneself: 0 } },
  read_protections: { role: owner },
  admin_protections: { role: owner, write: true },
  admin_badges: { role: owner, write: true },
  admin_hooks: { role: owner, write: true },
  read_runners: { role: maintainer },
  admin_runners: { role: owner },
  change_runners: { role: owner, write: true },
  read_ci_variables: { role: owner },
  admin_ci_variables: { role: owner, write: true },
  read_activity: { role: guest, visitor: 'signed_in' },
  archive_group: { role: owner, archived: true },
  transfer_group: { role: owner, write: true },
  delete_group: { role: owner },
} as const satisfies Record<string, Rule>

export type GroupAbility = keyof typeof groupAbilities

/** Abilities on records of the instance: `role` is `admin`, or 0 for whoever is signed in. */
export const instanceAbilities = {
  admin_instance: { role: admin },
  read_user_details: { role: admin, when: { oneself: 0 } },
  admin_access_token: { role: admin, when: { oneself: 0 } },
  create_snippet: { role: Role.none, unless: ['external'] },
  edit_snippet: { role: admin, when: { author: 0 } },
} as const satisfies Record<string, Rule>

export type InstanceAbility = keyof typeof instanceAbilities
