import { applyPatch } from 'diff'
import { beforeAll, describe, expect, test } from 'vitest'
import type { RepositoryName } from '../../../fixtures/repositories/build.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const projects = new Map<string, TestProject>()

beforeAll(async () => {
  for (const name of ['basic', 'merges', 'renames', 'orphans', 'binary', 'modes'] as const) {
    projects.set(name, await addProject(world, ana, name))
  }
})

function of(name: RepositoryName): TestProject {
  const project = projects.get(name)
  if (!project) throw new Error(`no project ${name}`)
  return project
}

interface ShownDiff {
  readonly old_path: string
  readonly new_path: string
  readonly diff: string
  readonly new_file: boolean
  readonly deleted_file: boolean
  readonly renamed_file: boolean
  readonly a_mode: string
  readonly b_mode: string
}

function show(project: TestProject, place: string): string {
  return `${project.git('show', place)}\n`
}

/** The shown patch, applied to the old file, gives the new one. */
function expectToApply(project: TestProject, diff: ShownDiff, base: string, to: string): void {
  if (diff.diff === '' || diff.diff.startsWith('Binary')) return
  const before = diff.new_file ? '' : show(project, `${base}:${diff.old_path}`)
  const after = diff.deleted_file ? '' : show(project, `${to}:${diff.new_path}`)
  expect(diff.diff.startsWith('@@')).toBe(true)
  expect(applyPatch(before, `--- a\n+++ b\n${diff.diff}`)).toBe(after)
}

describe('comparing', () => {
  test.each([
    ['basic', 'old', 'main', ''],
    ['basic', 'v0.1.0', 'v1.0.0', ''],
    ['basic', 'feature/one', 'main', ''],
    ['basic', 'feature/one', 'main', '&straight=true'],
    ['merges', 'criss', 'main', ''],
    ['merges', 'cross', 'criss', ''],
    ['renames', 'start', 'main', ''],
    ['modes', 'main~1', 'main', ''],
  ] as const)('%s: %s with %s%s is what git says', async (name, from, to, more) => {
    const project = of(name)
    const query = `from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}${more}`
    const reply = await ana.get(`${project.api}/compare?${query}`)
    expect(reply.status).toBe(200)
    const dots = more === '' ? '...' : '..'
    const [fromId, toId] = [from, to].map((ref) => project.git('rev-parse', `${ref}^{commit}`))
    const expected = project
      .git('rev-list', '--reverse', `${from}..${to}`)
      .split('\n')
      .filter(Boolean)
    const commits: { id: string }[] = reply.body.commits
    expect(commits.map((commit) => commit.id)).toEqual(expected)
    expect(reply.body.commit?.id ?? null).toBe(expected.at(-1) ?? null)
    expect(reply.body).toMatchObject({
      compare_timeout: false,
      compare_same_ref: false,
      web_url: `${world.app.config.externalUrl}/${project.fullPath}/-/compare/${fromId}${dots}${toId}`,
    })
    const listed = project.git('diff', '-M', '--raw', '--abbrev=40', '-z', `${from}${dots}${to}`)
    const diffs: ShownDiff[] = reply.body.diffs
    expect(diffs.length).toBe(listed.split(':').length - 1)
    const base = more === '' ? project.git('merge-base', from, to) : from
    for (const diff of diffs) expectToApply(project, diff, base, to)
  })

  test('renames are found, and named with unidiff', async () => {
    const reply = await ana.get(`${of('renames').api}/compare?from=start&to=main&unidiff=true`)
    const moved = reply.body.diffs.find((diff: ShownDiff) => diff.old_path === 'two.txt')
    expect(moved).toMatchObject({ new_path: 'dos.txt', renamed_file: true, new_file: false })
    expect(moved.diff.startsWith('--- a/two.txt\n+++ b/dos.txt\n@@')).toBe(true)
    expect(Object.keys(moved).sort()).toEqual([
      'a_mode',
      'b_mode',
      'collapsed',
      'deleted_file',
      'diff',
      'generated_file',
      'new_file',
      'new_path',
      'old_path',
      'renamed_file',
      'too_large',
    ])
  })

  test('a mode alone has an empty diff', async () => {
    const reply = await ana.get(`${of('modes').api}/compare?from=main~1&to=main`)
    const run = reply.body.diffs.find((diff: ShownDiff) => diff.new_path === 'run.sh')
    expect(run).toMatchObject({ a_mode: '100755', b_mode: '100644', diff: '' })
  })

  test('bytes are only said to differ', async () => {
    const reply = await ana.get(`${of('binary').api}/compare?from=main~1&to=main`)
    const image = reply.body.diffs.find((diff: ShownDiff) => diff.new_path === 'image.png')
    expect(image.diff).toBe('Binary files a/image.png and b/image.png differ\n')
  })

  test('a ref with itself, or backwards, gives nothing', async () => {
    const same = await ana.get(`${of('basic').api}/compare?from=main&to=main`)
    expect(same.body).toMatchObject({
      commit: null,
      commits: [],
      diffs: [],
      compare_same_ref: true,
    })
    const back = await ana.get(`${of('basic').api}/compare?from=main&to=old`)
    expect(back.body).toMatchObject({ commits: [], diffs: [], compare_same_ref: false })
  })

  test('unrelated histories has commits and no diff, unless straight', async () => {
    const reply = await ana.get(`${of('orphans').api}/compare?from=main&to=pages`)
    expect([reply.body.commits.length, reply.body.diffs]).toEqual([1, []])
    const straight = await ana.get(`${of('orphans').api}/compare?from=main&to=pages&straight=true`)
    expect(straight.body.diffs).toHaveLength(3)
  })

  test('collapses what is large, and stops at the limits', async () => {
    const project = await addProject(world, ana, 'basic', { path: 'large' })
    const line = 'a line of text that is long enough to count for something\n'
    const actions = [
      { action: 'create', file_path: 'middle.txt', content: line.repeat(600) },
      { action: 'create', file_path: 'huge.txt', content: line.repeat(5000) },
      { action: 'create', file_path: 'small.txt', content: line },
    ]
    const body = { branch: 'main', commit_message: 'Large', actions }
    const made = await ana.post(`${project.api}/commits`, body)
    const compared = await ana.get(`${project.api}/compare?from=main~1&to=main`)
    const state = (diffs: { new_path: string; collapsed: boolean; too_large: boolean }[]) =>
      Object.fromEntries(diffs.map((diff) => [diff.new_path, [diff.collapsed, diff.too_large]]))
    expect(state(compared.body.diffs)).toEqual({
      'huge.txt': [false, true],
      'middle.txt': [true, false],
      'small.txt': [false, false],
    })
    const alone = await ana.get(`${project.api}/commits/${made.body.id}/diff`)
    expect(state(alone.body)).toEqual({
      'huge.txt': [false, true],
      'middle.txt': [false, false],
      'small.txt': [false, false],
    })
  })

  test.each([
    ['', 400, { error: 'from is missing, to is missing' }],
    ['from=main', 400, { error: 'to is missing' }],
    ['from=nowhere&to=main', 404, { message: '404 Ref Not Found' }],
    ['from=main&to=nowhere', 404, { message: '404 Ref Not Found' }],
    ['from=main&to=--output=x', 404, { message: '404 Ref Not Found' }],
    ['from=main&to=main&straight=perhaps', 400, { error: 'straight is invalid' }],
  ])('with %s answers %i', async (query, status, body) => {
    const reply = await ana.get(`${of('basic').api}/compare?${query}`)
    expect([reply.status, reply.body]).toEqual([status, body])
  })
})

describe('comparing with a fork', () => {
  test('finds what is only there, for those who may read it', async () => {
    const parent = of('basic')
    const fork = await addProject(world, ana, 'empty', { path: 'fork' })
    await world.ctx.git.remove(fork.id)
    await world.ctx.git.fork(parent.id, fork.id)
    await world.ctx.db
      .updateTable('projects')
      .set({ forked_from_id: parent.id, empty_repo: false })
      .where('id', '=', fork.id)
      .execute()
    await ana.post(`${fork.api}/files/only.txt`, {
      branch: 'main',
      commit_message: 'Only in the fork',
      content: 'x',
    })
    const ahead = await ana.get(
      `${fork.api}/compare?from=main&to=main&from_project_id=${parent.id}`,
    )
    expect(ahead.body.commits.map((each: { title: string }) => each.title)).toEqual([
      'Only in the fork',
    ])
    const behind = await ana.get(
      `${parent.api}/compare?from=main&to=old&from_project_id=${fork.id}`,
    )
    expect([behind.status, behind.body.commits]).toEqual([200, []])
    const other = of('merges')
    const foreign = await ana.get(
      `${fork.api}/compare?from=main&to=main&from_project_id=${other.id}`,
    )
    expect([foreign.status, foreign.body]).toEqual([
      400,
      { message: `Target project id:${other.id} is not a fork of project id:${fork.id}` },
    ])
    const ben = await world.user('ben')
    await addMember(world, fork, ben, 30)
    await addMember(world, parent, ben, 10)
    const refused = await ben.get(
      `${fork.api}/compare?from=main&to=main&from_project_id=${parent.id}`,
    )
    expect([refused.status, refused.body]).toEqual([
      403,
      { message: "403 Forbidden - You don't have access to this fork's parent project" },
    ])
  })
})
