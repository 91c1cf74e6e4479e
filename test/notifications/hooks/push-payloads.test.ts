import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { git } from '../../support/git.ts'
import { gitClient } from '../../support/git-client.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
const ana = useCaller(world, 'ana')
let project: TestProject
let receiver: Receiver
let at: string
const none = '0'.repeat(40)

beforeAll(async () => {
  receiver = await openReceiver()
  project = await addProject(world, ana, 'empty', { path: 'pushed' })
  at = `/projects/${project.id}`
  const begin = { branch: 'main', commit_message: 'Begin' }
  const actions = [{ action: 'create', file_path: 'README.md', content: 'one\n' }]
  expect((await ana.post(`${at}/repository/commits`, { ...begin, actions })).status).toBe(201)
  await world.runTasks()
  const flags = { push_events: true, tag_push_events: true, repository_update_events: true }
  expect((await ana.post(`${at}/hooks`, { url: receiver.url, ...flags })).status).toBe(201)
})
afterAll(() => receiver.close())
afterEach(() => {
  receiver.received.length = 0
})

interface Action {
  readonly action: string
  readonly file_path: string
  readonly previous_path?: string
  readonly content?: string
}

async function commit(branch: string, message: string, actions: readonly Action[], more = {}) {
  const body = { branch, commit_message: message, actions, ...more }
  const made = await ana.post(`${at}/repository/commits`, body)
  expect(made.status).toBe(201)
  return made.body
}

/** Pushes to the project with the git program, from a clone that tests share. */
async function pushing(...args: readonly string[]) {
  const address = new URL(`${world.url}/${project.fullPath}.git`)
  address.username = 'ana'
  address.password = ana.token ?? ''
  const folder = join(world.folder, 'clone')
  if (!existsSync(folder)) await gitClient(world.folder, ['clone', '-q', address.href, folder])
  const run = (...words: readonly string[]) => gitClient(folder, words)
  await run('fetch', '-q')
  await run('checkout', '-q', '--detach', 'origin/main')
  if (args.includes('HEAD:refs/heads/main')) {
    await run('commit', '-q', '--allow-empty', '-m', 'Pushed')
  }
  await run('push', '-q', ...args)
}

/** What arrived since the last look, by what it is called. */
async function newDeliveries() {
  await world.runTasks()
  // Several are delivered at once, in any order.
  const found = receiver.received
    .map(({ body }) => body)
    .sort((one, other) => String(one.ref).localeCompare(String(other.ref)))
  receiver.received.length = 0
  return {
    pushes: found.filter((body) => body.event_name === 'push'),
    tags: found.filter((body) => body.event_name === 'tag_push'),
    updates: found.filter((body) => body.event_name === 'repository_update'),
    all: found,
  }
}

/** The project as every payload shows it. */
function shownProject() {
  const { externalUrl } = world.ctx.config
  const url = `${externalUrl}/ana/pushed`
  const ssh = `git@${new URL(externalUrl).hostname}:ana/pushed.git`
  return {
    id: project.id,
    name: 'pushed',
    description: '',
    web_url: url,
    avatar_url: null,
    git_ssh_url: ssh,
    git_http_url: `${url}.git`,
    namespace: 'ana',
    visibility_level: 0,
    path_with_namespace: 'ana/pushed',
    default_branch: 'main',
    ci_config_path: '',
    homepage: url,
    url: ssh,
    ssh_url: ssh,
    http_url: `${url}.git`,
  }
}

function shownRepository() {
  const whole = shownProject()
  return {
    name: 'pushed',
    url: whole.url,
    description: '',
    homepage: whole.homepage,
    git_http_url: whole.git_http_url,
    git_ssh_url: whole.git_ssh_url,
    visibility_level: 0,
  }
}

describe('a push', () => {
  test('shows who pushed what, with the paths of each commit, and nothing else', async () => {
    const { body: before } = await ana.get(`${at}/repository/branches/main`)
    const made = await commit('main', 'Add more\n\nFor everybody.', [
      { action: 'create', file_path: 'docs/größe.md', content: 'x\n' },
      { action: 'update', file_path: 'README.md', content: 'two\n' },
    ])
    const { pushes, updates, all } = await newDeliveries()
    expect(all).toHaveLength(2)
    const { body: user } = await ana.get('/user')
    const common = {
      user_id: ana.id,
      user_name: 'ana',
      user_avatar: user.avatar_url,
      project_id: project.id,
      project: shownProject(),
    }
    expect(pushes).toEqual([
      {
        object_kind: 'push',
        event_name: 'push',
        before: before.commit.id,
        after: made.id,
        ref: 'refs/heads/main',
        ref_protected: true,
        checkout_sha: made.id,
        message: null,
        user_username: 'ana',
        user_email: '',
        ...common,
        commits: [
          {
            id: made.id,
            message: made.message,
            title: 'Add more',
            timestamp: made.committed_date,
            url: `${shownProject().web_url}/-/commit/${made.id}`,
            author: { name: 'ana', email: user.commit_email },
            added: ['docs/größe.md'],
            modified: ['README.md'],
            removed: [],
          },
        ],
        total_commits_count: 1,
        push_options: {},
        repository: shownRepository(),
      },
    ])
    expect(updates).toEqual([
      {
        event_name: 'repository_update',
        user_email: '[REDACTED]',
        ...common,
        changes: [{ before: before.commit.id, after: made.id, ref: 'refs/heads/main' }],
        refs: ['refs/heads/main'],
      },
    ])
  })

  test('shows the address of who pushed once it is public', async () => {
    await world.root.put(`/users/${ana.id}`, { public_email: 'ana@example.com' })
    await commit('main', 'Known', [{ action: 'create', file_path: 'known', content: '' }])
    const { pushes, updates } = await newDeliveries()
    expect([pushes[0].user_email, updates[0].user_email]).toEqual([
      'ana@example.com',
      'ana@example.com',
    ])
  })

  test('names a renamed file as a new path and as one that went', async () => {
    const text = 'a line that is long enough to be recognized\n'.repeat(5)
    await commit('main', 'Here', [{ action: 'create', file_path: 'old/name', content: text }])
    await newDeliveries()
    await commit('main', 'There', [
      { action: 'move', file_path: 'new/name', previous_path: 'old/name', content: text },
    ])
    expect((await newDeliveries()).pushes[0].commits).toMatchObject([
      { added: ['new/name'], modified: [], removed: ['old/name'] },
    ])
  })

  test('names every path of a commit, however much is in the files', async () => {
    const lines = '0123456789\n'.repeat(30_000)
    const paths = ['a', 'b', 'c', 'd'].map((name) => `large/${name}`)
    const actions = paths.map((file_path) => ({ action: 'create', file_path, content: lines }))
    await commit('main', 'Large', actions)
    expect((await newDeliveries()).pushes[0].commits).toMatchObject([{ added: paths, removed: [] }])
  })

  test('of the first commit of all adds everything, and moves from nothing', async () => {
    const fresh = await createProject(ana, 'fresh')
    const path = `/projects/${fresh.id}`
    await ana.post(`${path}/hooks`, { url: receiver.url })
    const made = await ana.post(`${path}/repository/commits`, {
      branch: 'main',
      commit_message: 'First',
      actions: [{ action: 'create', file_path: 'a/b', content: 'x' }],
    })
    const { pushes } = await newDeliveries()
    expect(pushes).toMatchObject([
      {
        before: none,
        after: made.body.id,
        checkout_sha: made.body.id,
        commits: [{ id: made.body.id, added: ['a/b'], modified: [], removed: [] }],
        total_commits_count: 1,
        project: { default_branch: 'main', path_with_namespace: 'ana/fresh' },
      },
    ])
  })

  test('lists the newest twenty commits, the oldest of them first, and counts all', async () => {
    const steps = Array.from({ length: 23 }, (_, n) => {
      const from = n === 0 ? 'from refs/heads/main\n' : ''
      const text = `Step ${n}\n`
      return `commit refs/hidden/many\ncommitter C <c@example.com> ${n} +0000\ndata ${text.length}\n${text}${from}`
    })
    git(project.path, ['fast-import', '--quiet'], { input: steps.join('\n') })
    const ids = project.git('rev-list', '--reverse', 'main..refs/hidden/many').split('\n')
    await ana.post(`${at}/repository/branches?branch=many&ref=${ids.at(-1)}`)
    const [push] = (await newDeliveries()).pushes
    expect(push.commits.map((one: { id: string }) => one.id)).toEqual(ids.slice(3))
    expect(push.total_commits_count).toBe(23)
    expect(push.checkout_sha).toBe(ids.at(-1))
    expect(push.commits[0].title).toBe('Step 3')
  })

  test('shows the options that came with it, in groups', async () => {
    const options = ['ci.skip', 'ci.variable=A=b', 'deploy.to=staging', 'loose', '__proto__.x=1']
    const words = options.flatMap((option) => ['-o', option])
    await pushing(...words, 'origin', 'HEAD:refs/heads/main')
    const [push] = (await newDeliveries()).pushes
    expect(push.push_options).toMatchObject({
      ci: { skip: true, variable: 'A=b' },
      deploy: { to: 'staging' },
    })
    expect(Object.keys(push.push_options)).not.toContain('loose')
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test('back to an earlier commit has no new ones, and checks out where it went', async () => {
    const base = project.git('rev-parse', 'main')
    await ana.post(`${at}/repository/branches?branch=back&ref=main`)
    const further = await commit('back', 'Further', [
      { action: 'create', file_path: 'further', content: '' },
    ])
    await newDeliveries()
    await pushing('-f', 'origin', `${base}:refs/heads/back`)
    const [push] = (await newDeliveries()).pushes
    expect(push).toMatchObject({
      before: further.id,
      after: base,
      checkout_sha: base,
      commits: [],
      total_commits_count: 0,
    })
  })

  test('shows whether the branch is protected, by name or by pattern', async () => {
    await ana.post(`${at}/protected_branches`, { name: 'release/*', push_access_level: 40 })
    await ana.post(`${at}/repository/branches?branch=release/1&ref=main`)
    await ana.post(`${at}/repository/branches?branch=plain&ref=main`)
    const { pushes } = await newDeliveries()
    expect(pushes.map((push) => [push.ref, push.ref_protected, push.before])).toEqual([
      ['refs/heads/plain', false, none],
      ['refs/heads/release/1', true, none],
    ])
  })

  test('of a branch that goes has no commits, no checkout and ends in nothing', async () => {
    await ana.post(`${at}/repository/branches?branch=going&ref=main`)
    await newDeliveries()
    const tip = project.git('rev-parse', 'going')
    await ana.delete(`${at}/repository/branches/going`)
    const { pushes, updates } = await newDeliveries()
    expect(pushes).toMatchObject([
      {
        before: tip,
        after: none,
        ref: 'refs/heads/going',
        checkout_sha: null,
        commits: [],
        total_commits_count: 0,
      },
    ])
    expect(updates[0].changes).toEqual([{ before: tip, after: none, ref: 'refs/heads/going' }])
  })
})

describe('a tag', () => {
  test('with a message of its own shows it, its object and the commit to check out', async () => {
    const tip = project.git('rev-parse', 'main')
    await ana.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main', message: 'The first' })
    const object = project.git('rev-parse', 'v1')
    const { tags, pushes } = await newDeliveries()
    expect(pushes).toEqual([])
    expect(tags).toMatchObject([
      {
        object_kind: 'tag_push',
        event_name: 'tag_push',
        before: none,
        after: object,
        ref: 'refs/tags/v1',
        ref_protected: false,
        checkout_sha: tip,
        message: 'The first',
        commits: [{ id: tip }],
        total_commits_count: 1,
        repository: shownRepository(),
      },
    ])
  })

  test('without a message has none, and one that goes ends in nothing', async () => {
    await ana.post(`${at}/protected_tags`, { name: 'light*', create_access_level: 40 })
    const tip = project.git('rev-parse', 'main')
    await ana.post(`${at}/repository/tags`, { tag_name: 'light', ref: 'main' })
    expect((await newDeliveries()).tags).toMatchObject([
      { after: tip, message: null, ref_protected: true, checkout_sha: tip },
    ])
    await ana.delete(`${at}/repository/tags/light`)
    expect((await newDeliveries()).tags).toMatchObject([
      { before: tip, after: none, message: null, checkout_sha: null, commits: [] },
    ])
  })
})

describe('a push of many refs at once', () => {
  test('up to the limit is sent for each, and beyond it only as a change of the repository', async () => {
    const refs = (kind: string, names: readonly string[]) =>
      names.map((name) => `HEAD:refs/${kind}/${name}`)
    await pushing('origin', ...refs('heads', ['x1', 'x2', 'x3']))
    const few = await newDeliveries()
    expect(few.pushes.map((push) => push.ref)).toEqual([
      'refs/heads/x1',
      'refs/heads/x2',
      'refs/heads/x3',
    ])
    expect(few.updates).toHaveLength(1)
    expect(few.updates[0].refs).toEqual(['refs/heads/x1', 'refs/heads/x2', 'refs/heads/x3'])
    const four = [...refs('heads', ['y1', 'y2']), ...refs('tags', ['y1', 'y2'])]
    await pushing('origin', ...four)
    const many = await newDeliveries()
    expect([many.pushes, many.tags]).toEqual([[], []])
    expect(many.updates[0].refs).toHaveLength(4)
    await world.root.put('/application/settings', { push_event_hooks_limit: 5 })
    const others = refs('heads', ['z1', 'z2', 'z3', 'z4', 'z5'])
    await pushing('origin', ...others)
    expect((await newDeliveries()).pushes).toHaveLength(5)
    await world.root.put('/application/settings', { push_event_hooks_limit: 3 })
  })
})

describe('hooks of the instance', () => {
  test('are called for pushes and tags when these are on, under their own header', async () => {
    const given = { url: `${receiver.url}/all`, push_events: true, tag_push_events: true }
    const made = await world.root.post('/hooks', { ...given, push_events_branch_filter: 'main' })
    await commit('main', 'For all', [{ action: 'create', file_path: 'for-all', content: '' }])
    await ana.post(`${at}/repository/branches?branch=elsewhere&ref=main`)
    await ana.post(`${at}/repository/tags`, { tag_name: 'for-all', ref: 'main' })
    await world.runTasks()
    const sent = receiver.received.filter(({ url }) => url === '/all')
    expect(
      sent
        .map(({ headers, body }) => `${headers['x-svc-event']}: ${body.event_name} ${body.ref}`)
        .sort(),
    ).toEqual([
      'System Hook: push refs/heads/main',
      'System Hook: repository_update undefined',
      'System Hook: repository_update undefined',
      'System Hook: repository_update undefined',
      'System Hook: tag_push refs/tags/for-all',
    ])
    const push = sent.find(({ body }) => body.event_name === 'push')
    expect(push?.body).toMatchObject({ project: shownProject(), user_username: 'ana' })
    await world.root.delete(`/hooks/${made.body.id}`)
  })
})

test('each hook that is called for one push gets the same event, and a key of its own', async () => {
  const second = await ana.post(`${at}/hooks`, { url: `${receiver.url}/second` })
  await commit('main', 'Twice', [{ action: 'create', file_path: 'twice', content: '' }])
  await world.runTasks()
  const pushes = receiver.received.filter(({ body }) => body.event_name === 'push')
  const header = (name: string) => pushes.map(({ headers }) => headers[name])
  expect(pushes).toHaveLength(2)
  expect(new Set(header('x-svc-event-uuid')).size).toBe(1)
  expect(new Set(header('idempotency-key')).size).toBe(2)
  expect(new Set(header('x-svc-webhook-uuid')).size).toBe(2)
  expect(pushes[0]?.body).toEqual(pushes[1]?.body)
  await ana.delete(`${at}/hooks/${second.body.id}`)
})

test('a branch filter is a pattern, a regular expression or all branches', async () => {
  const filters = [
    ['wildcard', 'f-*/x', ['f-1/x']],
    ['wildcard', 'F-*', []],
    ['regex', '^f-[0-9]$', ['f-2']],
    // As they may have been set before they were looked at.
    ['regex', 'f-[', []],
    ['regex', '(f|g){1000}'.repeat(20), []],
    ['regex', '(a+)+$', []],
    ['all_branches', 'nothing', ['f-1/x', 'f-2', 'g']],
  ] as const
  const hooks: number[] = []
  for (const [n, [strategy, filter]] of filters.entries()) {
    const made = await ana.post(`${at}/hooks`, {
      url: `${receiver.url}/filter-${n}`,
      branch_filter_strategy: strategy,
    })
    expect(made.status).toBe(201)
    hooks.push(made.body.id)
    await world.ctx.db
      .updateTable('webhooks')
      .set({ push_events_branch_filter: filter })
      .where('id', '=', made.body.id)
      .execute()
  }
  for (const name of ['f-1/x', 'f-2', 'g']) {
    await ana.post(`${at}/repository/branches?branch=${name}&ref=main`)
  }
  await world.runTasks()
  for (const [n, [, , branches]] of filters.entries()) {
    const sent = receiver.received.filter(({ url }) => url === `/filter-${n}`)
    expect([n, sent.map(({ body }) => body.ref).sort()]).toEqual([
      n,
      branches.map((name) => `refs/heads/${name}`),
    ])
  }
  for (const id of hooks) await ana.delete(`${at}/hooks/${id}`)
})

test('what the server writes itself is pushed by nobody', async () => {
  commitFiles({ path: project.path }, { files: { 'direct.txt': 'x' }, ref: 'refs/heads/direct' })
  expect((await newDeliveries()).all).toEqual([])
})
