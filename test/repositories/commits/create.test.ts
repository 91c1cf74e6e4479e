import { beforeEach, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let count = 0

beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `basic${count}` })
  await addMember(world, project, dev, 30)
})

type Action = Record<string, unknown>

function commit(actions: readonly Action[], more: Record<string, unknown> = {}): Promise<Reply> {
  const body = { branch: 'main', commit_message: 'Change things', actions, ...more }
  return dev.post(`${project.api}/commits`, body)
}

function create(path: string, content = 'new\n', more: Action = {}): Action {
  return { action: 'create', file_path: path, content, ...more }
}

function show(path: string, ref = 'main'): string {
  return project.git('show', `${ref}:${path}`)
}

function files(ref = 'main'): string[] {
  return project.git('ls-tree', '-r', '--name-only', ref).split('\n')
}

async function protect(branch: string): Promise<void> {
  const reply = await ana.put(`${project.api}/branches/${encodeURIComponent(branch)}/protect`)
  expect(reply.status).toBe(200)
}

const asForm = (text: string) => ({
  raw: text,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
})

describe('a commit of several actions', () => {
  test('does all of them, in their order, on one tree', async () => {
    const before = project.git('rev-parse', 'main')
    const reply = await commit([
      create('made/here.txt', 'one\n'),
      { action: 'update', file_path: 'made/here.txt', content: 'two\n' },
      { action: 'move', file_path: 'made/there.txt', previous_path: 'made/here.txt' },
      { action: 'chmod', file_path: 'made/there.txt', execute_filemode: true },
      { action: 'delete', file_path: 'CHANGELOG.md' },
      { action: 'move', file_path: 'empty.md', previous_path: 'README.md', content: '' },
      create('bytes.bin', Buffer.from([0, 255, 1]).toString('base64'), { encoding: 'base64' }),
    ])
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({
      parent_ids: [before],
      title: 'Change things',
      message: 'Change things',
      author_name: 'dev',
      author_email: 'dev@example.com',
      committer_name: 'dev',
      created_at: '2026-05-04T10:00:00.000+00:00',
      project_id: project.id,
      status: null,
    })
    expect(reply.body.stats.total).toBeGreaterThan(0)
    expect(project.git('rev-parse', 'main')).toBe(reply.body.id)
    expect(files()).toEqual([
      'bytes.bin',
      'docs/guide/deep/er/still.md',
      'docs/guide/start.md',
      'empty.md',
      'made/there.txt',
      'src/main.ts',
    ])
    expect(project.git('ls-tree', 'main', 'made/there.txt')).toContain('100755')
    expect([show('made/there.txt'), show('empty.md')]).toEqual(['two', ''])
    expect(project.git('cat-file', '-s', 'main:bytes.bin')).toBe('3')
    project.git('fsck', '--strict')
  })

  test('names its author where asked, each part by itself, never its committer', async () => {
    const reply = await commit([create('a.txt')], { author_name: 'Somebody Else', stats: false })
    expect(reply.body).toMatchObject({
      author_name: 'Somebody Else',
      author_email: 'dev@example.com',
      committer_name: 'dev',
      committer_email: 'dev@example.com',
    })
    expect(reply.body).not.toHaveProperty('stats')
  })

  test('comes as a form too', async () => {
    const form =
      'branch=main&commit_message=Form&actions[][action]=create&actions[][file_path]=f.txt&actions[][content]=x' +
      '&actions[][action]=delete&actions[][file_path]=README.md'
    const reply = await dev.post(`${project.api}/commits`, undefined, asForm(form))
    expect(reply.status).toBe(201)
    expect(show('f.txt')).toBe('x')
    expect(files()).not.toContain('README.md')
  })

  test('may change nothing', async () => {
    const content = `${show('README.md')}\n`
    const reply = await commit([{ action: 'update', file_path: 'README.md', content }])
    expect(reply.status).toBe(201)
    expect(reply.body.stats.total).toBe(0)
  })

  test('shows up for whoever asks for a last pipeline of nothing', async () => {
    const reply = await commit([create('a.txt')])
    const single = await dev.get(`${project.api}/commits/${reply.body.id}`)
    expect(single.body.last_pipeline).toBeNull()
  })
})

describe('where a commit starts', () => {
  test('on another branch it makes a new one', async () => {
    const reply = await commit([create('a.txt')], { branch: 'brand/new', start_branch: 'old' })
    expect(reply.status).toBe(201)
    expect(reply.body.parent_ids).toEqual([project.git('rev-parse', 'old')])
    expect(project.git('rev-parse', 'brand/new')).toBe(reply.body.id)
  })

  test('on a commit it makes a new one', async () => {
    const start_sha = project.git('rev-parse', 'v0.1.0')
    const reply = await commit([create('a.txt')], { branch: 'new', start_sha })
    expect(reply.body.parent_ids).toEqual([start_sha])
  })

  test('with force it resets the branch', async () => {
    const start = project.git('rev-parse', 'old')
    for (const more of [{ start_branch: 'old' }, { start_sha: start }]) {
      const reply = await commit([create('a.txt')], { branch: 'feature/one', force: true, ...more })
      expect([reply.status, reply.body.parent_ids]).toEqual([201, [start]])
      expect(project.git('rev-parse', 'feature/one')).toBe(reply.body.id)
    }
  })

  test('in an empty repository it makes the first branch, which becomes the default', async () => {
    project = await addProject(world, ana, 'empty', { path: `empty${count}` })
    await addMember(world, project, dev, 40)
    const reply = await commit([create('a.txt')], { branch: 'trunk' })
    expect([reply.status, reply.body.parent_ids]).toEqual([201, []])
    const branch = await dev.get(`${project.api}/branches/trunk`)
    expect(branch.body.default).toBe(true)
    expect(project.git('symbolic-ref', 'HEAD')).toBe('refs/heads/trunk')
  })

  test('in a fork it takes what is missing along', async () => {
    const fork = await addProject(world, dev, 'empty', { path: `fork${count}` })
    await world.ctx.db
      .updateTable('projects')
      .set({ forked_from_id: project.id })
      .where('id', '=', fork.id)
      .execute()
    const body = {
      branch: 'main',
      start_branch: 'main',
      start_project: project.fullPath,
      commit_message: 'Over here',
      actions: [create('a.txt')],
    }
    const reply = await dev.post(`${fork.api}/commits`, body)
    expect(reply.status).toBe(201)
    expect(reply.body.parent_ids).toEqual([project.git('rev-parse', 'main')])
    fork.git('fsck', '--strict')
    const stranger = await addProject(world, ana, 'basic', {
      path: `other${count}`,
      visibility: 'public',
    })
    const foreign = await dev.post(`${fork.api}/commits`, { ...body, start_project: stranger.id })
    expect([foreign.status, foreign.body]).toEqual([
      403,
      {
        message: `403 Forbidden - Project is not included in the fork network for ana / other${count}`,
      },
    ])
    const hidden = await addProject(world, ana, 'basic', { path: `hidden${count}` })
    const unseen = await dev.post(`${fork.api}/commits`, { ...body, start_project: hidden.id })
    expect([unseen.status, unseen.body]).toEqual([404, { message: '404 Project Not Found' }])
  })
})

describe('a commit is refused', () => {
  test.each([
    [{}, 'branch is required'],
    [{ branch: 'main' }, 'commit_message is required'],
    [{ branch: 'main', commit_message: ' ' }, 'commit_message is required'],
    [{ branch: 'main', commit_message: 'x' }, 'actions is required'],
    [{ branch: 'main', commit_message: 'x', actions: [] }, 'actions is required'],
    [{ branch: 'main', commit_message: 'x', actions: 'create' }, 'actions must be an array'],
    [{ branch: ['main'], commit_message: 'x', actions: [{}] }, 'branch is invalid'],
    [
      {
        branch: 'new',
        commit_message: 'x',
        actions: [create('a')],
        start_branch: 'main',
        start_sha: 'x',
      },
      'start_branch, start_sha are mutually exclusive',
    ],
  ])('for want of parameters: %j', async (body, text) => {
    const reply = await dev.post(`${project.api}/commits`, body)
    expect([reply.status, reply.body]).toEqual([400, { message: `400 Bad request - ${text}` }])
  })

  test.each<[Action, string]>([
    [{}, 'actions[1][action] is required'],
    [{ action: 'create' }, 'actions[1][file_path] is required'],
    [
      { action: 'copy', file_path: 'x' },
      'actions[1][action] must be one of: create, update, move, delete, chmod',
    ],
    [create('x', 'y', { encoding: 'hex' }), 'actions[1][encoding] must be text or base64'],
    [create('x', '!?', { encoding: 'base64' }), 'actions[1][content] is not valid base64'],
    [create('x', 'eHh4e', { encoding: 'base64' }), 'actions[1][content] is not valid base64'],
    [{ action: 'update', file_path: 'x' }, 'actions[1][content] is required for update action'],
    [{ action: 'create', file_path: 'x' }, 'actions[1][content] is required for create action'],
    [{ action: 'move', file_path: 'x' }, 'actions[1][previous_path] is required for move action'],
    [
      { action: 'chmod', file_path: 'x' },
      'actions[1][execute_filemode] is required for chmod action',
    ],
    [
      { action: 'chmod', file_path: 'x', execute_filemode: 'maybe' },
      'actions[1][execute_filemode] must be a boolean',
    ],
    [create('x', 'y', { content: { a: 1 } }), 'actions[1][content] is invalid'],
  ])('for an ill-formed action: %j', async (action, text) => {
    const reply = await commit([create('fine.txt'), action])
    expect([reply.status, reply.body]).toEqual([400, { message: `400 Bad request - ${text}` }])
  })

  test.each<[Action, string]>([
    [create('README.md'), 'A file with this name already exists'],
    [create('src'), 'A directory with this name already exists'],
    [create('README.md/x'), 'A file with this name already exists'],
    [{ action: 'update', file_path: 'none', content: '' }, "A file with this name doesn't exist"],
    [{ action: 'delete', file_path: 'none' }, "A file with this name doesn't exist"],
    [
      { action: 'move', file_path: 'x', previous_path: 'none' },
      "A file with this name doesn't exist",
    ],
    [
      { action: 'chmod', file_path: 'none', execute_filemode: true },
      "A file with this name doesn't exist",
    ],
    [create('../x'), 'Path cannot include directory traversal'],
    [create('a/../../x'), 'Path cannot include directory traversal'],
    [create('/x'), "invalid path: '/x'"],
    [create('.git/config'), "invalid path: '.git/config'"],
    [create('a//b'), "invalid path: 'a//b'"],
  ])('for an action that cannot be: %j', async (action, message) => {
    const before = project.git('rev-parse', 'main')
    const reply = await commit([create('fine.txt'), action])
    expect([reply.status, reply.body]).toEqual([400, { message }])
    expect(project.git('rev-parse', 'main')).toBe(before)
  })

  test.each([
    [{ branch: 'nowhere' }, 'You can only create or edit files when you are on a branch'],
    [
      { branch: 'new', start_branch: 'nowhere' },
      'You can only create or edit files when you are on a branch',
    ],
    [
      { branch: 'old', start_branch: 'main' },
      "A branch called 'old' already exists. Switch to that branch in order to make changes",
    ],
    [
      { branch: 'a b', start_branch: 'main' },
      "Something went wrong when we tried to create 'a b' for you: Branch name is invalid",
    ],
    [{ branch: 'new', start_sha: 'abc' }, "Invalid start_sha 'abc'"],
    [{ branch: 'new', start_sha: '0'.repeat(40) }, `Cannot find start_sha '${'0'.repeat(40)}'`],
  ])('for where it would be: %j', async (more, message) => {
    const reply = await commit([create('x')], more)
    expect([reply.status, reply.body]).toEqual([400, { message }])
  })

  test('when a file changed since it was read, by the last commit of that very file', async () => {
    const seen = project.git('log', '-1', '--format=%H', 'main', '--', 'src/main.ts')
    const stale = project.git('rev-parse', 'main')
    const update = (last_commit_id: string) =>
      commit([{ action: 'update', file_path: 'src/main.ts', content: 'x', last_commit_id }])
    const refused = await update(stale)
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: 'The file has changed since you started editing it: src/main.ts' },
    ])
    expect((await update(seen)).status).toBe(201)
    const moved = await commit([
      { action: 'move', file_path: 'm.ts', previous_path: 'src/main.ts', last_commit_id: seen },
    ])
    expect(moved.body).toEqual({
      message: 'The file has changed since you started editing it: m.ts',
    })
  })

  test('to those who may not push, before anything is looked at', async () => {
    const reporter = await world.user(`rep${count}`)
    await addMember(world, project, reporter, 20)
    const text = { message: '403 Forbidden - You are not allowed to push into this branch' }
    const mayNot = await reporter.post(`${project.api}/commits`, { branch: 'main' })
    expect([mayNot.status, mayNot.body]).toEqual([403, text])
    await protect('main')
    const guarded = await commit([create('x')])
    expect([guarded.status, guarded.body]).toEqual([403, text])
    const nobody = await world.nobody.post(`${project.api}/commits`, {})
    expect(nobody.status).toBe(404)
    const open = await addProject(world, ana, 'basic', {
      path: `open${count}`,
      visibility: 'public',
    })
    expect((await world.nobody.post(`${open.api}/commits`, {})).status).toBe(401)
  })

  test('with the words of the rule when force would rewind a protected branch', async () => {
    await protect('main')
    const body = {
      branch: 'main',
      start_branch: 'old',
      force: true,
      commit_message: 'x',
      actions: [create('x')],
    }
    const reply = await ana.post(`${project.api}/commits`, body)
    expect([reply.status, reply.body]).toEqual([
      400,
      { message: 'You are not allowed to force push code to a protected branch on this project.' },
    ])
  })
})

describe('writers at the same time', () => {
  test('lose no commit', async () => {
    const before = Number(project.git('rev-list', '--count', 'main'))
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => commit([create(`race${i}.txt`)], { stats: false })),
    )
    const made = replies.length
    expect(replies.map((reply) => reply.status)).toEqual(Array.from({ length: made }, () => 201))
    expect(Number(project.git('rev-list', '--count', 'main'))).toBe(before + made)
    expect(files().filter((name) => name.startsWith('race'))).toHaveLength(made)
    project.git('fsck', '--strict')
  })
})
