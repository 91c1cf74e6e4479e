import { describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')
const dan = useCaller(world, 'dan')

interface OwnersRule {
  readonly id: number
  readonly name: string
  readonly section: string
  readonly rule_type: string
  readonly approvals_required: number
  readonly approved: boolean
  readonly eligible_approvers: readonly { readonly username: string }[]
}

/** A project of ana's with ben as Developer and cleo as Maintainer, whose `main` asks for the owners of this file. */
async function stage(owners: string, isAsked = true): Promise<Bench> {
  const bench = await openBench(world, ana)
  await addMember(world, bench.project.id, ben.id, 30)
  await addMember(world, bench.project.id, cleo.id, 40)
  bench.commit('main', { CODEOWNERS: owners })
  const made = await ana.post(`/projects/${bench.project.id}/protected_branches`, {
    name: 'main',
    code_owner_approval_required: isAsked,
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return bench
}

/** Opens a merge request of ana's that adds these files. */
async function change(bench: Bench, branch: string, ...paths: readonly string[]): Promise<string> {
  bench.commit(branch, Object.fromEntries(paths.map((path) => [path, `${branch}\n`])))
  const { body } = await bench.open(branch)
  return `${bench.api}/${body.iid}`
}

async function rulesOf(at: string): Promise<readonly OwnersRule[]> {
  return (await ana.get(`${at}/approval_state`)).body.rules
}

/** Who may satisfy each rule, by its pattern. */
async function ownersOf(at: string): Promise<Record<string, string[]>> {
  const rules = await rulesOf(at)
  return Object.fromEntries(
    rules.map((rule) => [rule.name, rule.eligible_approvers.map((user) => user.username).sort()]),
  )
}

const isApproved = async (at: string) => (await ana.get(`${at}/approvals`)).body.approved

describe('the owners of a pattern', () => {
  test('are named by role, which is exact', async () => {
    const bench = await stage(
      '*.ts @@developers\n*.md @@maintainer\n*.txt @@developer @@maintainers\n',
    )
    const at = await change(bench, 'topic', 'a.ts', 'b.md', 'c.txt')
    expect(await ownersOf(at)).toEqual({
      '*.ts': ['ben'],
      '*.md': ['cleo'],
      '*.txt': ['ben', 'cleo'],
    })
  })

  test('are named by user name in any letter case, or by e-mail address', async () => {
    const bench = await stage('*.ts @BEN\n*.md cleo@example.com\n')
    const at = await change(bench, 'topic', 'a.ts', 'b.md')
    expect(await ownersOf(at)).toEqual({ '*.ts': ['ben'], '*.md': ['cleo'] })
  })

  test('are no guests, and no strangers: without anybody else the rule is approved', async () => {
    const bench = await stage('*.ts @dan\n*.md @nobody-at-all\n*.txt\n')
    await addMember(world, bench.project.id, dan.id, 10)
    const at = await change(bench, 'topic', 'a.ts', 'b.md', 'c.txt')
    expect(Object.values(await ownersOf(at)).flat()).toEqual([])
    expect((await rulesOf(at)).every((rule) => rule.approved)).toBe(true)
    expect(await isApproved(at)).toBe(true)
  })

  test('may be a group that the project is shared with, for Developers or more', async () => {
    const group = await createGroup(dan, 'file-owners', { name: 'Owners' })
    await dan.post(`/groups/${group.id}/members`, { user_id: ana.id, access_level: 10 })
    const bench = await stage('*.ts @file-owners\n')
    const share = `/projects/${bench.project.id}/share`
    expect(await ownersOf(await change(bench, 'unshared', 'a.ts'))).toEqual({ '*.ts': [] })
    const shared = { group_id: group.id, group_access: 20 }
    expect((await ana.post(share, shared)).status).toBe(201)
    expect(await ownersOf(await change(bench, 'reporters', 'b.ts'))).toEqual({ '*.ts': [] })
    expect((await ana.delete(`${share}/${group.id}`)).status).toBe(204)
    expect((await ana.post(share, { ...shared, group_access: 30 })).status).toBe(201)
    const at = await change(bench, 'developers', 'c.ts')
    expect(await ownersOf(at)).toMatchObject({ '*.ts': expect.arrayContaining(['dan']) })
    expect(await isApproved(at)).toBe(false)
    expect((await dan.post(`${at}/approve`)).status).toBe(201)
    expect(await isApproved(at)).toBe(true)
  })

  test('cannot approve the files that they own and wrote to', async () => {
    const bench = await stage('*.ts @ben @cleo\n*.md @ben\n')
    const at = await change(bench, 'topic', 'a.ts', 'b.md')
    const file = { branch: 'topic', commit_message: 'x', content: 'x' }
    const path = `/projects/${bench.project.id}/repository/files/more.txt`
    expect((await ben.post(path, file)).status).toBe(201)
    await bench.read(Number(at.split('/').at(-1)))
    expect(await ownersOf(at)).toEqual({ '*.ts': ['cleo'], '*.md': [] })
  })
})

describe('which rules there are', () => {
  test('is one for each pattern in each section, with the count and the owners of its header', async () => {
    const bench = await stage('* @cleo\n[Code][2] @ben @cleo\n*.ts\nlib/ @ben\n[code]\n*.js @ben\n')
    const at = await change(bench, 'topic', 'a.ts', 'b.ts', 'lib/c.ts', 'd.js')
    const rules = await rulesOf(at)
    const shown = rules.map(({ section, name, approvals_required: count }) => [
      section,
      name,
      count,
    ])
    const byName = shown.sort(([, one = ''], [, other = '']) => (one < other ? -1 : 1))
    expect(byName).toEqual([
      ['codeowners', '*', 1],
      ['Code', '*.js', 2],
      ['Code', '*.ts', 2],
      ['Code', 'lib/', 2],
    ])
    expect(rules.every((rule) => rule.rule_type === 'code_owner')).toBe(true)
    await ben.post(`${at}/approve`)
    expect(await isApproved(at)).toBe(false)
    expect((await cleo.post(`${at}/approve`)).status).toBe(201)
    expect(await isApproved(at)).toBe(true)
  })

  test('leaves out what a line of the section excludes, wherever it stands', async () => {
    const bench = await stage('*.ts @ben\n!gen/\ngen/own.ts @cleo\n')
    const at = await change(bench, 'topic', 'gen/a.ts', 'gen/own.ts')
    expect(await rulesOf(at)).toEqual([])
    expect(await isApproved(at)).toBe(true)
  })

  test('comes from the first file that there is on the target, not on the source', async () => {
    const bench = await stage('*.ts @ben\n')
    bench.commit('main', { 'docs/CODEOWNERS': '*.ts @cleo\n' })
    bench.commit('topic', { CODEOWNERS: '*.ts @cleo\n', 'a.ts': 'a\n' })
    const { body } = await bench.open('topic')
    expect(await ownersOf(`${bench.api}/${body.iid}`)).toEqual({ '*.ts': ['ben'] })
  })

  test('asks for nothing where the target does not want it', async () => {
    const bench = await stage('*.ts @ben\n', false)
    const at = await change(bench, 'topic', 'a.ts')
    expect(await rulesOf(at)).toMatchObject([{ name: '*.ts', approvals_required: 0 }])
    expect(await isApproved(at)).toBe(true)
    bench.commit('other', { 'x.txt': 'x\n' })
    expect((await ana.put(`${at}/merge`)).status).toBe(200)
  })

  test('follows the files of the newest push', async () => {
    const bench = await stage('*.ts @ben\n*.md @cleo\n')
    const at = await change(bench, 'topic', 'a.ts')
    expect(Object.keys(await ownersOf(at))).toEqual(['*.ts'])
    const file = { branch: 'topic', commit_message: 'x', content: 'x' }
    await ana.post(`/projects/${bench.project.id}/repository/files/b.md`, file)
    await bench.read(Number(at.split('/').at(-1)))
    expect(Object.keys(await ownersOf(at)).sort()).toEqual(['*.md', '*.ts'])
    const [rule] = await rulesOf(at)
    for (const reply of [
      await ana.put(`${at}/approval_rules/${rule?.id}`, { approvals_required: 0 }),
      await ana.delete(`${at}/approval_rules/${rule?.id}`),
    ]) {
      expect([reply.status, reply.body]).toEqual([403, { message: ['Prohibited'] }])
    }
  })
})

describe('a target that asks for owners asks for them', () => {
  /** Lets Developers merge into `main`, which asks for cleo, and opens a merge request of ben's. */
  async function open(from: string, isAsked = true): Promise<{ bench: Bench; at: string }> {
    const bench = await stage('*.ts @cleo\n', isAsked)
    const project = `/projects/${bench.project.id}`
    const levels = { allowed_to_merge: [{ access_level: 30 }] }
    expect((await ana.patch(`${project}/protected_branches/main`, levels)).status).toBe(200)
    bench.commit('topic', { 'a.ts': 'a\n' })
    if (from === 'beside') bench.commit('beside', { CODEOWNERS: '# nobody\n' })
    if (from === 'same') git(bench.project.path, ['branch', 'same', 'main'])
    const opened = await bench.open('topic', { target_branch: from }, ben)
    expect(opened.body.detailed_merge_status).toBe('mergeable')
    return { bench, at: `${bench.api}/${opened.body.iid}` }
  }

  test.each(['same', 'beside'])('of a request that came from %s at once', async (from) => {
    const { bench, at } = await open(from)
    expect((await ben.put(at, { target_branch: 'main' })).status).toBe(200)
    expect((await ben.put(`${at}/merge`)).status).toBe(405)
    const { body } = await bench.read(1)
    expect(body).toMatchObject({ state: 'opened', detailed_merge_status: 'not_approved' })
    expect(await ownersOf(at)).toEqual({ '*.ts': ['cleo'] })
    expect((await cleo.post(`${at}/approve`)).status).toBe(201)
    expect((await ben.put(`${at}/merge`)).body).toMatchObject({ state: 'merged' })
  })

  test('of requests that were there before it did', async () => {
    const { bench, at } = await open('main', false)
    const rule = `/projects/${bench.project.id}/protected_branches/main`
    await ana.patch(rule, { code_owner_approval_required: true })
    expect(await rulesOf(at)).toMatchObject([{ approvals_required: 1, approved: false }])
    expect((await ben.put(`${at}/merge`)).status).toBe(405)
    await ana.patch(rule, { code_owner_approval_required: false })
    expect((await ben.put(`${at}/merge`)).status).toBe(200)
  })
})

test('a push with selective removal takes the approvals of those whose files it touched', async () => {
  const bench = await stage('*.ts @ben\n*.md @cleo\n')
  const project = `/projects/${bench.project.id}`
  const selective = { reset_approvals_on_push: false, selective_code_owner_removals: true }
  expect((await ana.post(`${project}/approvals`, selective)).status).toBe(201)
  const at = await change(bench, 'topic', 'a.ts', 'b.md')
  for (const owner of [ben, cleo]) expect((await owner.post(`${at}/approve`)).status).toBe(201)
  const file = { branch: 'topic', commit_message: 'x', content: 'changed\n' }
  expect((await ana.put(`${project}/repository/files/a.ts`, file)).status).toBe(200)
  await bench.read(Number(at.split('/').at(-1)))
  const { approved, approved_by } = (await ana.get(`${at}/approvals`)).body
  const names = approved_by.map((one: { user: { username: string } }) => one.user.username)
  expect([approved, names]).toEqual([false, ['cleo']])
})

test('what was approved stays approved once it is merged', async () => {
  const bench = await stage('*.ts @ben\n')
  const at = await change(bench, 'topic', 'a.ts')
  expect((await ben.post(`${at}/approve`)).status).toBe(201)
  expect((await ana.put(`${at}/merge`)).status).toBe(200)
  expect((await ben.post(`${at}/unapprove`)).status).toBe(404)
  expect((await ana.get(`${at}/approvals`)).body.approved_by).toHaveLength(1)
})
