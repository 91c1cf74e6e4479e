import { ed25519, gpgKey } from '../support/keys.ts'
import type { Caller } from '../support/world.ts'

/** Path parameters by name, as examples fill them in. */
export type Ids = Record<string, string>

/** What one place (a project with its group, of one visibility) holds one of each of. */
export interface Place {
  readonly visibility: 'private' | 'internal' | 'public'
  readonly group: Ids
  readonly project: Ids
}

async function made(caller: Caller, path: string, body: unknown, method = 'POST') {
  const reply = await caller.call(method, path, method === 'GET' ? undefined : (body ?? {}))
  if (reply.status >= 300)
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  return reply.body
}

const inAMonth = '2026-06-04'

/** One of each record that belongs to a group. */
export async function fillGroup(owner: Caller, target: Caller, group: string): Promise<Ids> {
  const api = `/groups/${encodeURIComponent(group)}`
  const make = (path: string, body?: unknown, method?: string) =>
    made(owner, api + path, body, method)
  const { id } = await made(owner, api, undefined, 'GET')
  const badge = await make('/badges', {
    link_url: 'https://a.example',
    image_url: 'https://a.example/b',
  })
  const hook = await make('/hooks', {
    url: 'https://hooks.example/{word}',
    url_variables: [{ key: 'word', value: 'secret' }],
    custom_headers: [{ key: 'X-One', value: '1' }],
  })
  const label = await make('/labels', { name: 'of-group', color: '#ff0000' })
  const otherLabel = await make('/labels', { name: 'later', color: '#0000ff' })
  const milestone = await make('/milestones', { title: 'of group' })
  const token = await make('/access_tokens', { name: 'bot', scopes: ['api'], expires_at: inAMonth })
  const deploy = await make('/deploy_tokens', { name: 'deploy', scopes: ['read_repository'] })
  const board = await make('/boards', { name: 'board' })
  const list = await make(`/boards/${board.id}/lists`, { label_id: label.id })
  await make('/wikis', { title: 'home', content: 'text' })
  await make('/protected_branches', { name: 'main' })
  await make('/protected_environments', {
    name: 'production',
    deploy_access_levels: [{ access_level: 40 }],
  })
  const account = await make('/service_accounts', { name: 'robot' })
  await make('/variables', { key: 'VAR', value: 'of the group' })
  const accountToken = await make(`/service_accounts/${account.id}/personal_access_tokens`, {
    name: 'one',
    scopes: ['api'],
  })
  await make('/invitations', { email: `invited-${id}@example.com`, access_level: 30 })
  return {
    id: String(id),
    badge_id: String(badge.id),
    hook_id: String(hook.id),
    label_id: String(label.id),
    other_label_id: String(otherLabel.id),
    milestone_id: String(milestone.id),
    token_id: String(token.id),
    deploy_token_id: String(deploy.id),
    board_id: String(board.id),
    list_id: String(list.id),
    slug: 'home',
    user_id: String(target.id),
    account_id: String(account.id),
    account_token_id: String(accountToken.id),
    email: `invited-${id}@example.com`,
  }
}

/** One of each record that belongs to a project. */
export async function fillProject(owner: Caller, target: Caller, project: string): Promise<Ids> {
  const api = `/projects/${encodeURIComponent(project)}`
  const make = (path: string, body?: unknown, method?: string) =>
    made(owner, api + path, body, method)
  const { id } = await make('', undefined, 'GET')
  await make('/repository/commits', {
    branch: 'main',
    start_branch: 'main',
    commit_message: 'Add files',
    actions: [
      { action: 'create', file_path: 'a.txt', content: 'one\n' },
      { action: 'create', file_path: 'lib/b.txt', content: 'two\n' },
    ],
  }).catch(async () => undefined)
  for (const branch of ['feature', 'other', 'spare'])
    await make('/repository/commits', {
      branch,
      start_branch: 'main',
      commit_message: `Change ${branch}`,
      actions: [{ action: 'create', file_path: `${branch}.txt`, content: 'x\n' }],
    })
  await make('/repository/tags', { tag_name: 'v1', ref: 'main' })
  await make('/repository/tags', { tag_name: 'v2', ref: 'main', message: 'annotated' })
  const commit = await make('/repository/commits/feature', undefined, 'GET')
  const tip = await make('/repository/commits/main', undefined, 'GET')
  const history = await make('/repository/commits?ref_name=main', undefined, 'GET')
  const tree = await make('/repository/tree?ref=main', undefined, 'GET')
  const blob = tree.find((entry: { type: string }) => entry.type === 'blob')
  const label = await make('/labels', { name: 'bug', color: '#ff0000' })
  const milestone = await make('/milestones', { title: 'one' })
  const issue = await make('/issues', {
    title: 'first',
    labels: 'bug',
    milestone_id: milestone.id,
    weight: 2,
  })
  const second = await make('/issues', { title: 'second' })
  const third = await make('/issues', { title: 'third' })
  const otherLabel = await make('/labels', { name: 'soon', color: '#0000ff' })
  const link = await make(`/issues/${issue.iid}/links`, {
    target_project_id: id,
    target_issue_iid: second.iid,
  })
  await make(`/issues/${second.iid}`, { state_event: 'close' }, 'PUT')
  await make(`/issues/${second.iid}`, { state_event: 'reopen' }, 'PUT')
  await make(
    `/issues/${second.iid}`,
    { weight: 3, milestone_id: milestone.id, labels: 'bug' },
    'PUT',
  )
  const issueNote = await make(`/issues/${issue.iid}/notes`, { body: 'note' })
  const issueThread = await make(`/issues/${issue.iid}/discussions`, { body: 'thread' })
  const issueEmoji = await make(`/issues/${issue.iid}/award_emoji`, { name: 'thumbsup' })
  const noteEmoji = await make(`/issues/${issue.iid}/notes/${issueNote.id}/award_emoji`, {
    name: 'star',
  })
  const request = await make('/merge_requests', {
    source_branch: 'feature',
    target_branch: 'main',
    title: 'Take it',
    labels: 'bug',
    milestone_id: milestone.id,
  })
  const requestTwo = await make('/merge_requests', {
    source_branch: 'other',
    target_branch: 'main',
    title: 'Take the other',
  })
  const R = `/merge_requests/${request.iid}`
  const requestNote = await make(`${R}/notes`, { body: 'note' })
  const requestThread = await make(`${R}/discussions`, { body: 'thread' })
  const requestEmoji = await make(`${R}/award_emoji`, { name: 'thumbsup' })
  const requestNoteEmoji = await make(`${R}/notes/${requestNote.id}/award_emoji`, { name: 'star' })
  const draft = await make(`${R}/draft_notes`, { note: 'draft' })
  const requestRule = await make(`${R}/approval_rules`, { name: 'people', approvals_required: 1 })
  const rule = await make('/approval_rules', { name: 'all', approvals_required: 1 })
  const commentThread = await make(`/repository/commits/${commit.id}/discussions`, {
    body: 'on it',
  })
  const snippet = await make('/snippets', {
    title: 'snippet',
    file_name: 'a.sh',
    content: 'echo\n',
    visibility: 'public',
  })
  const S = `/snippets/${snippet.id}`
  const snippetNote = await make(`${S}/notes`, { body: 'note' })
  const snippetThread = await make(`${S}/discussions`, { body: 'thread' })
  const snippetEmoji = await make(`${S}/award_emoji`, { name: 'thumbsup' })
  const snippetNoteEmoji = await make(`${S}/notes/${snippetNote.id}/award_emoji`, { name: 'star' })
  await make('/wikis', { title: 'home', content: 'text' })
  const release = await make('/releases', { tag_name: 'v1', name: 'One', description: 'first' })
  const asset = await make('/releases/v1/assets/links', {
    name: 'file',
    url: 'https://files.example/a',
    direct_asset_path: '/bin/a',
  })
  const badge = await make('/badges', {
    link_url: 'https://a.example',
    image_url: 'https://a.example/b',
  })
  await make('/mirror/pull', { url: 'https://mirrors.example/followed.git' }, 'PUT')
  const mirror = await make('/remote_mirrors', { url: 'https://mirrors.example/one.git' })
  const hook = await make('/hooks', {
    url: 'https://hooks.example/{word}',
    url_variables: [{ key: 'word', value: 'secret' }],
    custom_headers: [{ key: 'X-One', value: '1' }],
  })
  const token = await make('/access_tokens', { name: 'bot', scopes: ['api'], expires_at: inAMonth })
  const deploy = await make('/deploy_tokens', { name: 'deploy', scopes: ['read_repository'] })
  const key = await make('/deploy_keys', { title: 'key', key: ed25519() })
  await make('/protected_branches', { name: 'release' })
  await make('/protected_tags', { name: 'v*' })
  await make('/protected_environments', {
    name: 'production',
    deploy_access_levels: [{ access_level: 40 }],
  })
  const labelEvents = await make(`/issues/${issue.iid}/resource_label_events`, undefined, 'GET')
  const milestoneEvents = await make(
    `/issues/${issue.iid}/resource_milestone_events`,
    undefined,
    'GET',
  )
  const stateEvents = await make(`/issues/${second.iid}/resource_state_events`, undefined, 'GET')
  const weightEvents = await make(`/issues/${second.iid}/resource_weight_events`, undefined, 'GET')
  const requestLabelEvents = await make(`${R}/resource_label_events`, undefined, 'GET')
  const requestMilestoneEvents = await make(`${R}/resource_milestone_events`, undefined, 'GET')
  await make(`/merge_requests/${requestTwo.iid}`, { state_event: 'close' }, 'PUT')
  await make(`/merge_requests/${requestTwo.iid}`, { state_event: 'reopen' }, 'PUT')
  const requestStateEvents = await make(
    `/merge_requests/${requestTwo.iid}/resource_state_events`,
    undefined,
    'GET',
  )
  await make('/push_rule', { max_file_size: 100 })
  const board = await make('/boards', { name: 'board' })
  const list = await make(`/boards/${board.id}/lists`, { label_id: label.id })
  const account = await make('/service_accounts', { name: 'robot' })
  const accountToken = await make(`/service_accounts/${account.id}/personal_access_tokens`, {
    name: 'one',
    scopes: ['api'],
  })
  await make('/variables', { key: 'VAR', value: 'of the project' })
  const trigger = await make('/triggers', { description: 'from outside' })
  const schedule = await make('/pipeline_schedules', {
    description: 'every night',
    ref: 'main',
    cron: '0 3 * * *',
  })
  await make(`/pipeline_schedules/${schedule.id}/variables`, { key: 'VAR', value: 'nightly' })
  const environment = await make('/environments', { name: 'staging' })
  await make(`/environments/${environment.id}/stop`)
  const deployment = await make('/deployments', {
    environment: 'live',
    sha: tip.id,
    ref: 'main',
    tag: false,
    status: 'failed',
  })
  const freeze = await make('/freeze_periods', {
    freeze_start: '0 0 1 1 *',
    freeze_end: '0 0 2 1 *',
  })
  await make('/feature_flags', { name: 'new_page', version: 'new_version_flag' })
  const userList = await make('/feature_flags_user_lists', { name: 'testers', user_xids: 'a,b' })
  const flagClient = await make('/feature_flags_client/reset_token')
  const secret = new FormData()
  secret.set('name', 'key.txt')
  secret.set('file', new Blob(['secret']), 'key.txt')
  const secure = await owner.post(`${api}/secure_files`, undefined, { raw: secret })
  const invited = `invited-p${id}@example.com`
  await make('/invitations', { email: invited, access_level: 30 })
  return {
    id: String(id),
    path: project,
    sha: commit.id,
    tip: tip.id,
    first_sha: history[0].id,
    blob: blob.id,
    label_id: String(label.id),
    milestone_id: String(milestone.id),
    issue_iid: String(issue.iid),
    issue_id: String(issue.id),
    second_issue_iid: String(second.iid),
    second_issue_id: String(second.id),
    third_issue_iid: String(third.iid),
    other_label_id: String(otherLabel.id),
    issue_link_id: String(link.id ?? link.link?.id ?? 1),
    issue_note_id: String(issueNote.id),
    issue_discussion_id: issueThread.id,
    issue_discussion_note_id: String(issueThread.notes[0].id),
    issue_emoji_id: String(issueEmoji.id),
    issue_note_emoji_id: String(noteEmoji.id),
    merge_request_iid: String(request.iid),
    other_merge_request_iid: String(requestTwo.iid),
    other_merge_request_id: String(requestTwo.id),
    user_id: String(target.id),
    request_note_id: String(requestNote.id),
    request_discussion_id: requestThread.id,
    request_discussion_note_id: String(requestThread.notes[0].id),
    request_emoji_id: String(requestEmoji.id),
    request_note_emoji_id: String(requestNoteEmoji.id),
    draft_note_id: String(draft.id),
    request_rule_id: String(requestRule.id),
    approval_rule_id: String(rule.id),
    commit_discussion_id: commentThread.id,
    commit_note_id: String(commentThread.notes[0].id),
    snippet_id: String(snippet.id),
    snippet_note_id: String(snippetNote.id),
    snippet_discussion_id: snippetThread.id,
    snippet_discussion_note_id: String(snippetThread.notes[0].id),
    snippet_emoji_id: String(snippetEmoji.id),
    snippet_note_emoji_id: String(snippetNoteEmoji.id),
    tag_name: release.tag_name,
    link_id: String(asset.id),
    badge_id: String(badge.id),
    mirror_id: String(mirror.id),
    hook_id: String(hook.id),
    token_id: String(token.id),
    deploy_token_id: String(deploy.id),
    key_id: String(key.id),
    board_id: String(board.id),
    list_id: String(list.id),
    account_id: String(account.id),
    account_token_id: String(accountToken.id),
    email: invited,
    trigger_id: String(trigger.id),
    trigger_token: trigger.token,
    pipeline_schedule_id: String(schedule.id),
    environment_id: String(environment.id),
    deployment_id: String(deployment.id),
    freeze_period_id: String(freeze.id),
    feature_flag_name: 'new_page',
    user_list_iid: String(userList.iid),
    instance_id: flagClient.instance_id,
    secure_file_id: String(secure.body.id),
    label_event_id: String(labelEvents[0]?.id),
    milestone_event_id: String(milestoneEvents[0]?.id),
    state_event_id: String(stateEvents[0]?.id),
    weight_event_id: String(weightEvents[0]?.id),
    request_label_event_id: String(requestLabelEvents[0]?.id),
    request_milestone_event_id: String(requestMilestoneEvents[0]?.id),
    request_state_event_id: String(requestStateEvents[0]?.id),
  }
}

export const exampleKey = gpgKey(7)
