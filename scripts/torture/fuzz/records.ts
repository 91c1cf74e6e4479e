import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Api, type ApiRecord, fileForm } from '../place/api.ts'
import type { Random } from '../random.ts'

/** The records that requests are made about. */
export interface Records {
  readonly projectId: number
  readonly groupId: number
  readonly commits: readonly string[]
  /** Records that may be deleted, archived, moved or blocked: nothing else is built upon them. */
  readonly spare: {
    readonly projects: readonly number[]
    readonly groups: readonly number[]
    readonly users: readonly number[]
    readonly tokens: readonly number[]
  }
}

/** Makes a group with a project in it, and some records of each kind in both. */
export async function makeRecords(root: Api, random: Random): Promise<Records> {
  const name = `ground-${random.word()}`
  const group = await root.must('POST', '/groups', { name, path: name, visibility: 'public' })
  const project = await root.must('POST', '/projects', {
    name: 'main',
    namespace_id: group.id,
    visibility: 'public',
    initialize_with_readme: true,
  })
  const projectId = Number(project.id)
  const groupId = Number(group.id)
  const commits = await makeCommits(root, projectId)
  const records = { projectId, groupId, commits, spare: await makeSpare(root, name, random) }
  await fillUp(root, records, random)
  return records
}

/** Makes what there should be beside the first records; what is there already is refused, and stays. */
export async function fillUp(root: Api, records: Records, random: Random): Promise<void> {
  const { projectId, groupId, commits, spare } = records
  await makeAll(root, inProject(`/projects/${projectId}`, commits[0] ?? '', spare))
  await makeAll(root, inGroup(`/groups/${groupId}`, spare))
  await makeAll(root, ofInstance(random))
  for (const id of spare.users) await makeAll(root, ofUser(`/users/${id}`, random))
  await root.call('POST', `/projects/${projectId}/uploads`, fileForm('a.txt', 'text'))
}

async function makeCommits(root: Api, projectId: number): Promise<string[]> {
  const ids: string[] = []
  for (const branch of ['main', 'feature-1', 'feature-2', 'feature-3']) {
    const { id } = await root.must('POST', `/projects/${projectId}/repository/commits`, {
      branch,
      ...(branch === 'main' ? {} : { start_branch: 'main' }),
      commit_message: `Write ${branch}`,
      actions: [
        { action: 'create', file_path: `dir/${branch}.txt`, content: 'a\nb\nc\n' },
        ...(branch === 'main' ? [{ action: 'create', file_path: 'dir/a.txt', content: 'a' }] : []),
      ],
    })
    ids.push(String(id))
  }
  return ids
}

type Step = readonly [path: string, body?: ApiRecord]

/** One after the other, since later ones need earlier ones; what a server does not offer is left out. */
async function makeAll(root: Api, steps: readonly Step[]): Promise<void> {
  for (const [path, body] of steps) await root.call('POST', path, body ?? {})
}

function inProject(at: string, commit: string, spare: Records['spare']): Step[] {
  const [, one, two, three] = spare.users
  const steps: Step[] = [
    [`${at}/labels`, { name: 'bug', color: '#ff0000' }],
    [`${at}/labels`, { name: 'feature', color: '#00ff00' }],
    [`${at}/milestones`, { title: 'One' }],
    [`${at}/milestones`, { title: 'Two' }],
    [`${at}/boards`, { name: 'Board' }],
    [`${at}/badges`, { link_url: 'http://127.0.0.1:9/a', image_url: 'http://127.0.0.1:9/b' }],
    [`${at}/hooks`, { url: 'http://127.0.0.1:9/hook' }],
    [`${at}/deploy_tokens`, { name: 'deploy', scopes: ['read_repository'] }],
    [`${at}/access_tokens`, { name: 'bot', scopes: ['api'], access_level: 40 }],
    [`${at}/protected_branches`, { name: 'release/*' }],
    [`${at}/protected_tags`, { name: 'v*' }],
    [`${at}/approval_rules`, { name: 'Two', approvals_required: 1 }],
    [`${at}/push_rule`, { max_file_size: 100 }],
    [`${at}/snippets`, snippet],
    [`${at}/wikis`, { title: 'home', content: 'text' }],
    [`${at}/wikis`, { title: 'dir/page', content: 'text' }],
    [`${at}/statuses/${commit}`, { state: 'pending', name: 'build' }],
    [`${at}/statuses/${commit}`, { state: 'success', name: 'test' }],
    [`${at}/repository/commits/${commit}/comments`, { note: 'text' }],
    [`${at}/repository/commits/${commit}/discussions`, { body: 'text' }],
    [`${at}/members`, { user_id: one, access_level: 30 }],
    [`${at}/members`, { user_id: two, access_level: 20 }],
    [`${at}/members`, { user_id: three, access_level: 10 }],
    [`${at}/share`, { group_id: spare.groups[0], group_access: 30 }],
    [`${at}/service_accounts`, { name: 'Robot' }],
    [
      `${at}/protected_environments`,
      { name: 'production', deploy_access_levels: [{ access_level: 40 }] },
    ],
    [`${at}/issues/1/links`, { target_project_id: at.split('/')[2], target_issue_iid: 2 }],
    [`${at}/invitations`, { email: 'invited@example.com', access_level: 30 }],
    [`${at}/deploy_keys`, { title: 'deploy', key: newSshKey() }],
  ]
  for (const tag of ['v1.0.0', 'v1.1.0']) {
    steps.push([`${at}/repository/tags`, { tag_name: tag, ref: 'main' }])
    const links = [{ name: 'a', url: 'http://127.0.0.1:9/a', filepath: '/a' }]
    steps.push([`${at}/releases`, { tag_name: tag, name: tag, assets: { links } }])
  }
  for (const title of ['First', 'Second', 'Third']) steps.push([`${at}/issues`, { title }])
  for (const iid of [1, 2]) {
    steps.push(...aboutNoteable(`${at}/issues/${iid}`))
    steps.push([
      `${at}/merge_requests`,
      { title: 'Change', source_branch: `feature-${iid}`, target_branch: 'main' },
    ])
  }
  for (const iid of [1, 2]) {
    const request = `${at}/merge_requests/${iid}`
    steps.push(...aboutNoteable(request), [`${request}/draft_notes`, { note: 'draft' }])
    steps.push([`${request}/approval_rules`, { name: 'Own', approvals_required: 0 }])
  }
  return steps
}

const snippet = {
  title: 'Snippet',
  visibility: 'public',
  files: [{ file_path: 'a.txt', content: 'text' }],
}

function aboutNoteable(at: string): Step[] {
  return [
    [`${at}/notes`, { body: 'first' }],
    [`${at}/discussions`, { body: 'second' }],
    [`${at}/award_emoji`, { name: 'thumbsup' }],
    [`${at}/todo`],
    [`${at}/time_estimate`, { duration: '3h' }],
  ]
}

function inGroup(at: string, spare: Records['spare']): Step[] {
  const [, one, two] = spare.users
  return [
    [`${at}/members`, { user_id: one, access_level: 30 }],
    [`${at}/members`, { user_id: two, access_level: 20 }],
    [`${at}/share`, { group_id: spare.groups[0], group_access: 30 }],
    [`${at}/invitations`, { email: 'invited@example.com', access_level: 30 }],
    [
      `${at}/protected_environments`,
      { name: 'staging', deploy_access_levels: [{ access_level: 40 }] },
    ],
    [`${at}/labels`, { name: 'group', color: '#0000ff' }],
    [`${at}/milestones`, { title: 'Group' }],
    [`${at}/boards`, { name: 'Board' }],
    [`${at}/badges`, { link_url: 'http://127.0.0.1:9/a', image_url: 'http://127.0.0.1:9/b' }],
    [`${at}/hooks`, { url: 'http://127.0.0.1:9/hook' }],
    [`${at}/deploy_tokens`, { name: 'deploy', scopes: ['read_repository'] }],
    [`${at}/access_tokens`, { name: 'bot', scopes: ['api'], access_level: 40 }],
    [`${at}/wikis`, { title: 'home', content: 'text' }],
    [`${at}/service_accounts`, { name: 'Robot' }],
    [`${at}/protected_branches`, { name: 'release/*' }],
  ]
}

function ofInstance(random: Random): Step[] {
  const word = random.word()
  const application = { name: word, redirect_uri: 'http://127.0.0.1:9/', scopes: 'api' }
  return [
    ['/snippets', snippet],
    ['/topics', { name: word, title: word }],
    ['/hooks', { url: 'http://127.0.0.1:9/hook' }],
    ['/applications', application],
    ['/broadcast_messages', { message: 'text' }],
    [`/features/${word}`, { value: true }],
  ]
}

function ofUser(at: string, random: Random): Step[] {
  return [
    [`${at}/emails`, { email: `${random.word()}@example.com`, skip_confirmation: true }],
    [`${at}/keys`, { title: 'key', key: newSshKey() }],
    [`${at}/impersonation_tokens`, { name: 'token', scopes: ['api'] }],
    [`${at}/personal_access_tokens`, { name: 'token', scopes: ['api'] }],
  ]
}

async function makeSpare(root: Api, name: string, random: Random): Promise<Records['spare']> {
  const projects: number[] = []
  const groups: number[] = []
  const users: number[] = []
  const tokens: number[] = []
  for (let i = 0; i < 4; i += 1) {
    const path = `${name}-spare-${i}`
    const body = { name: path, path, initialize_with_readme: true }
    projects.push(Number((await root.must('POST', '/projects', body)).id))
    groups.push(Number((await root.must('POST', '/groups', body)).id))
    const userId = Number((await makeUser(root, random)).id)
    const token = { name: 'spare', scopes: ['api'] }
    users.push(userId)
    tokens.push(
      Number((await root.must('POST', `/users/${userId}/personal_access_tokens`, token)).id),
    )
  }
  return { projects, groups, users, tokens }
}

export function makeUser(root: Api, random: Random, more: ApiRecord = {}): Promise<ApiRecord> {
  const username = `u-${random.word(10)}`
  return root.must('POST', '/users', {
    username,
    name: username,
    email: `${username}@example.com`,
    force_random_password: true,
    skip_confirmation: true,
    ...more,
  })
}

function newSshKey(): string {
  const folder = mkdtempSync(join(tmpdir(), 'torture-key-'))
  try {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
    return readFileSync(join(folder, 'key.pub'), 'utf8').trim()
  } catch {
    // Without the program there is no deploy key to ask about.
    return ''
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
