import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../../support/git-client.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller
let project: TestProject
let source: string
let rule: string

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  project = await makeProject(world, ana, 'ruled')
  source = await folders.repository()
  await gitClient(source, ['push', '-q', project.url(ana), 'main', 'main:refs/tags/v0'])
  rule = `/projects/${project.id}/push_rule`
})
afterAll(() => folders.clear())

describe('push rules', () => {
  test('are kept once for each project', async () => {
    const none = await ana.get(rule)
    expect([none.status, none.body]).toEqual([200, null])
    const made = await ana.post(rule, { commit_message_regex: 'JIRA-\\d+' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      project_id: project.id,
      commit_message_regex: 'JIRA-\\d+',
      branch_name_regex: '',
      max_file_size: 0,
      deny_delete_tag: false,
    })
    expect((await ana.post(rule, {})).status).toBe(422)
    expect((await ana.put(rule, { file_name_regex: '(' })).status).toBe(400)
    expect((await ana.put(rule, { deny_delete_tag: true })).body.deny_delete_tag).toBe(true)
    expect((await ana.get(rule)).body.commit_message_regex).toBe('JIRA-\\d+')
    expect((await (await world.user('dan')).get(rule)).status).toBe(404)
    expect((await ana.delete(rule)).status).toBe(204)
    expect((await ana.delete(rule)).status).toBe(404)
  })
})

async function commitAs(folder: string, who: 'AUTHOR' | 'COMMITTER'): Promise<string> {
  await writeFile(join(folder, 'a'), who)
  await gitClient(folder, ['add', '-A'])
  const stranger = { [`GIT_${who}_EMAIL`]: 'nobody@nowhere.example' }
  await gitClient(folder, ['commit', '-q', '-m', 'Add'], stranger)
  return 'HEAD:main'
}

const refusals: [string, Record<string, unknown>, (folder: string) => Promise<string>, string][] = [
  [
    'a message',
    { commit_message_regex: '^JIRA-\\d+' },
    async (folder) => commitFile(folder, 'a', 'a', 'Add a').then(() => 'HEAD:main'),
    "Commit message does not follow the pattern '^JIRA-\\d+'",
  ],
  [
    'a forbidden message',
    { commit_message_negative_regex: 'ssh' },
    async (folder) => commitFile(folder, 'a', 'a', 'Add ssh').then(() => 'HEAD:main'),
    "Commit message contains the forbidden pattern 'ssh'",
  ],
  [
    'an address',
    { author_email_regex: '@corp\\.example$' },
    async (folder) => commitFile(folder, 'a', 'a', 'Add a').then(() => 'HEAD:main'),
    'does not follow the pattern',
  ],
  [
    'a branch name',
    { branch_name_regex: '^(feature|fix)/' },
    async () => 'main:refs/heads/other',
    "Branch name 'other' does not follow the pattern '^(feature|fix)/'",
  ],
  [
    'a file name',
    { file_name_regex: '\\.exe$' },
    async (folder) => commitFile(folder, 'a b.exe', 'a', 'Add').then(() => 'HEAD:main'),
    "File name a b.exe was prohibited by the pattern '\\.exe$'.",
  ],
  [
    'a file of secrets',
    { prevent_secrets: true },
    async (folder) => commitFile(folder, 'id_rsa', 'a', 'Add').then(() => 'HEAD:main'),
    'File name id_rsa was prohibited',
  ],
  [
    'a large file',
    { max_file_size: 1 },
    async (folder) => {
      await writeFile(join(folder, 'big'), Buffer.alloc(1024 * 1024 + 1))
      await gitClient(folder, ['add', '-A'])
      await gitClient(folder, ['commit', '-q', '-m', 'Big'])
      return 'HEAD:main'
    },
    'File "big" is larger than the allowed size of 1 MiB.',
  ],
  [
    'an unsigned commit',
    { reject_unsigned_commits: true },
    async (folder) => commitFile(folder, 'a', 'a', 'Add').then(() => 'HEAD:main'),
    'Commit must be signed with a GPG key',
  ],
  [
    'a commit without sign-off',
    { reject_non_dco_commits: true },
    async (folder) => commitFile(folder, 'a', 'a', 'Add').then(() => 'HEAD:main'),
    'Commit message must contain a DCO signoff',
  ],
  [
    'an unknown author',
    { member_check: true },
    async (folder) => commitAs(folder, 'AUTHOR'),
    'is not a member of team',
  ],
  [
    "somebody else's commit",
    { commit_committer_check: true },
    async (folder) => commitAs(folder, 'COMMITTER'),
    'You cannot push commits for',
  ],
  [
    'the end of a tag',
    { deny_delete_tag: true },
    async () => ':refs/tags/v0',
    'You cannot delete a tag',
  ],
]

test.each(refusals)('the git program shows why %s is refused', async (_what, rules, make, why) => {
  await ana.post(rule, rules)
  const before = await gitClient(source, ['rev-parse', 'HEAD'])
  const refspec = await make(source)
  const run = await runGitClient(source, ['push', project.url(ana), refspec])
  expect(run.code).not.toBe(0)
  expect(run.stderr).toContain(why)
  await gitClient(source, ['reset', '-q', '--hard', before])
  await ana.delete(rule)
})

test('what follows the rules goes through, over git and the API alike', async () => {
  await ana.post(rule, {
    commit_message_regex: '^JIRA-\\d+',
    branch_name_regex: '^feature/',
    file_name_regex: '\\.exe$',
    max_file_size: 1,
  })
  await commitFile(source, 'fine', 'a', 'JIRA-1 Add fine')
  await gitClient(source, ['push', '-q', project.url(ana), 'HEAD:main', 'HEAD:feature/a'])
  const commits = `/projects/${project.id}/repository/commits`
  const action = { action: 'create', file_path: 'x', content: 'x' }
  const wrong = await ana.post(commits, {
    branch: 'main',
    commit_message: 'No ticket',
    actions: [action],
  })
  expect(wrong.status).toBeGreaterThanOrEqual(400)
  expect(JSON.stringify(wrong.body)).toContain('Commit message does not follow the pattern')
  const right = await ana.post(commits, {
    branch: 'main',
    commit_message: 'JIRA-2 x',
    actions: [action],
  })
  expect(right.status).toBe(201)
})
