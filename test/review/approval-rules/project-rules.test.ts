import { describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')

async function stage(): Promise<{ bench: Bench; at: string; rules: string }> {
  const bench = await openBench(world, ana)
  for (const user of [ben, cleo]) await addMember(world, bench.project.id, user.id, 30)
  const at = `/projects/${bench.project.id}`
  return { bench, at, rules: `${at}/approval_rules` }
}

async function open(bench: Bench, branch = 'topic') {
  bench.commit(branch, { [`${branch}.txt`]: `${branch}\n` })
  const { body } = await bench.open(branch)
  return `${bench.api}/${body.iid}`
}

const namesOf = (body: readonly { name: string }[]) => body.map((one) => one.name)
const usersOf = (body: readonly { username: string }[]) => body.map((one) => one.username)

describe('the approval rules of a project', () => {
  test('keep what is given and changed, and are listed in pages', async () => {
    const { rules } = await stage()
    const made = await ana.post(rules, {
      name: 'Security',
      approvals_required: 2,
      user_ids: [ben.id],
      usernames: 'cleo',
    })
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        name: 'Security',
        rule_type: 'regular',
        report_type: null,
        approvals_required: 2,
        groups: [],
        applies_to_all_protected_branches: false,
        protected_branches: [],
        contains_hidden_groups: false,
      },
    ])
    expect(usersOf(made.body.users).sort()).toEqual(['ben', 'cleo'])
    expect(usersOf(made.body.eligible_approvers).sort()).toEqual(['ben', 'cleo'])
    const one = `${rules}/${made.body.id}`
    expect((await ben.get(one)).body).toEqual(made.body)
    const changed = await ana.put(one, { name: 'Safety', approvals_required: 1 })
    expect(changed.body).toMatchObject({ name: 'Safety', approvals_required: 1 })
    expect(changed.body.users).toHaveLength(2)
    // Who is named replaces who was.
    expect(usersOf((await ana.put(one, { user_ids: [cleo.id] })).body.users)).toEqual(['cleo'])
    expect((await ana.put(one, { user_ids: [] })).body.users).toEqual([])
    await ana.post(rules, { name: 'Other', approvals_required: 0 })
    const paged = await ana.get(`${rules}?per_page=1&page=2`)
    expect([namesOf(paged.body), paged.headers.get('x-total')]).toEqual([['Other'], '2'])
    expect((await ana.delete(one)).status).toBe(204)
    expect((await ana.get(one)).body).toEqual({ message: '404 Not found' })
    expect((await ana.delete(one)).status).toBe(404)
  })

  test('refuse what they cannot be', async () => {
    const { rules } = await stage()
    const rule = { name: 'Taken', approvals_required: 1 }
    await ana.post(rules, rule)
    const refusals: [object, object][] = [
      [rule, { message: { name: ['has already been taken'] } }],
      [{}, { error: 'name is missing, approvals_required is missing' }],
      [
        { ...rule, approvals_required: 101 },
        { error: 'approvals_required does not have a valid value' },
      ],
      [
        { ...rule, approvals_required: -1 },
        { error: 'approvals_required does not have a valid value' },
      ],
      [{ ...rule, name: ' ' }, { message: { name: ["can't be blank"] } }],
      [
        { ...rule, name: 'x'.repeat(1025) },
        { error: 'name is too long (maximum is 1024 characters)' },
      ],
      [{ ...rule, rule_type: 'odd' }, { error: 'rule_type does not have a valid value' }],
      [
        { ...rule, name: 'Coverage-Check', rule_type: 'report_approver' },
        { message: { report_type: ["can't be blank"] } },
      ],
      [
        { ...rule, name: 'Coverage-Check', rule_type: 'report_approver', report_type: 'odd' },
        { message: { report_type: ['is not included in the list'] } },
      ],
    ]
    for (const [body, answer] of refusals) {
      const reply = await ana.post(rules, body)
      expect([reply.status, reply.body]).toEqual([400, answer])
    }
    const coverage = { ...rule, name: 'Coverage-Check', rule_type: 'report_approver' }
    const made = await ana.post(rules, { ...coverage, report_type: 'code_coverage' })
    expect(made.body).toMatchObject({ rule_type: 'report_approver', report_type: 'code_coverage' })
    expect((await ben.post(rules, rule)).status).toBe(403)
    const stranger = await world.user('rule-stranger')
    expect((await stranger.get(rules)).body).toEqual({ message: '404 Project Not Found' })
  })

  test('hold for the protected branches that they name, or all of them', async () => {
    const { bench, at, rules } = await stage()
    bench.commit('stable', { 's.txt': 's' })
    const { body: main } = await ana.post(`${at}/protected_branches`, { name: 'main' })
    const named = await ana.post(rules, {
      name: 'Of main',
      approvals_required: 1,
      user_ids: [ben.id],
      protected_branch_ids: [main.id, 123_456],
    })
    expect(namesOf(named.body.protected_branches)).toEqual(['main'])
    const all = { name: 'Of all', approvals_required: 1, user_ids: [cleo.id] }
    const every = await ana.post(rules, { ...all, applies_to_all_protected_branches: true })
    expect(namesOf(every.body.protected_branches)).toEqual(['main'])
    const one = await open(bench)
    const inForce = async (query = '') =>
      namesOf((await ana.get(`${one}/approval_state${query}`)).body.rules)
    expect((await inForce()).sort()).toEqual(['Of all', 'Of main'])
    expect(await inForce('?target_branch=stable')).toEqual([])
    const { body: stable } = await ana.post(`${at}/protected_branches`, { name: 'sta*' })
    expect(await inForce('?target_branch=stable')).toEqual(['Of all'])
    await ana.put(`${rules}/${named.body.id}`, { protected_branch_ids: [stable.id] })
    expect(await inForce()).toEqual(['Of all'])
    expect((await inForce('?target_branch=stable')).sort()).toEqual(['Of all', 'Of main'])
  })

  test('name groups, which their members stand for; hidden ones are kept', async () => {
    const { bench, rules } = await stage()
    const group = await createGroup(ben, 'secret')
    await ben.post(`/groups/${group.id}/members`, { user_id: cleo.id, access_level: 30 })
    await addMember(world, bench.project.id, ben.id, 40)
    const rule = { name: 'Team', approvals_required: 1, group_ids: [group.id] }
    const made = await ben.post(rules, rule)
    expect(namesOf(made.body.groups)).toEqual(['Secret'])
    expect(usersOf(made.body.eligible_approvers)).toContain('cleo')
    const seen = await ana.get(`${rules}/${made.body.id}`)
    expect(seen.body).toMatchObject({ groups: [], contains_hidden_groups: true })
    const changed = await ana.put(`${rules}/${made.body.id}`, { group_ids: [] })
    expect(changed.body.contains_hidden_groups).toBe(true)
    const one = await open(bench)
    expect((await ana.get(`${one}/approvals`)).body).toMatchObject({ approvals_left: 1 })
    expect((await cleo.post(`${one}/approve`)).body).toMatchObject({ approved: true })
    const removed = await ana.put(`${rules}/${made.body.id}`, { remove_hidden_groups: true })
    expect(removed.body.contains_hidden_groups).toBe(false)
    expect(namesOf((await ben.get(`${rules}/${made.body.id}`)).body.groups)).toEqual([])
  })

  test('wait for nobody who cannot see the merge request', async () => {
    const { bench, rules } = await stage()
    const guest = await world.user('rule-guest')
    const planner = await world.user('rule-planner')
    const outsider = await world.user('rule-outsider')
    await addMember(world, bench.project.id, guest.id, 10)
    await addMember(world, bench.project.id, planner.id, 15)
    const group = await createGroup(ana, 'rule-advice', { name: 'advice' })
    for (const user of [guest, outsider, cleo])
      await ana.post(`/groups/${group.id}/members`, { user_id: user.id, access_level: 30 })
    const named = { user_ids: [guest.id, planner.id], group_ids: [group.id] }
    const rule = await ana.post(rules, { name: 'Named', approvals_required: 1, ...named })
    expect(usersOf(rule.body.users)).toContain('rule-guest')
    const eligible = ['ana', 'cleo', 'rule-planner']
    expect(usersOf(rule.body.eligible_approvers).sort()).toEqual(eligible)
    const one = await open(bench)
    const [asked] = (await ana.get(`${one}/approval_state`)).body.rules
    expect(usersOf(asked.eligible_approvers).sort()).toEqual(['cleo', 'rule-planner'])
    expect((await planner.post(`${one}/approve`)).status).toBe(201)
    // What everybody sees, the members of its groups approve as well.
    await ana.put(`/projects/${bench.project.id}`, { visibility: 'public' })
    const opened = usersOf((await ana.get(`${rules}/${rule.body.id}`)).body.eligible_approvers)
    expect(opened).toContain('rule-outsider')
  })

  test('count one approval in each rule, and none that nobody can give', async () => {
    const { bench, rules } = await stage()
    for (const name of ['One', 'Two']) {
      await ana.post(rules, { name, approvals_required: 1, user_ids: [ben.id] })
    }
    // Its only approver is the author, who may not approve.
    await ana.post(rules, { name: 'Dead', approvals_required: 1, user_ids: [ana.id] })
    const one = await open(bench)
    const before = (await ana.get(`${one}/approvals`)).body
    expect(before).toMatchObject({ approved: false, approvals_required: 3 })
    const after = await ben.post(`${one}/approve`)
    expect(after.body.approved).toBe(true)
    const state = (await ana.get(`${one}/approval_state`)).body.rules
    expect(
      state.map((rule: { name: string; approved: boolean }) => [rule.name, rule.approved]),
    ).toEqual([
      ['One', true],
      ['Two', true],
      ['Dead', true],
    ])
    expect((await ana.put(`${one}/merge`)).status).toBe(200)
  })
})

describe('who may approve', () => {
  const settings = (at: string, body: object) => ana.post(`${at}/approvals`, body)

  test('is the author where the project lets them, and nobody who committed where it does not', async () => {
    const { bench, at } = await stage()
    const one = await open(bench)
    expect((await ana.post(`${one}/approve`)).status).toBe(401)
    const changed = await settings(at, { merge_requests_author_approval: true })
    expect([changed.status, changed.body.merge_requests_author_approval]).toEqual([201, true])
    expect((await ana.post(`${one}/approve`)).status).toBe(201)
    await settings(at, { merge_requests_disable_committers_approval: true })
    // The commits of the bench are by nobody; one by ben bars him.
    const content = { branch: 'topic', commit_message: 'x', content: 'x' }
    await ben.post(`${at}/repository/files/by-ben.txt`, content)
    await bench.read(1)
    expect((await ben.post(`${one}/approve`)).status).toBe(401)
    expect((await cleo.post(`${one}/approve`)).status).toBe(201)
  })

  test('loses the say when approvals are reset by a push, or keeps it', async () => {
    const { bench, at } = await stage()
    const one = await open(bench)
    await ben.post(`${one}/approve`)
    await settings(at, { reset_approvals_on_push: false })
    bench.commit('topic', { 'more.txt': 'more\n' })
    const file = { branch: 'topic', commit_message: 'x', content: 'x' }
    await ana.post(`${at}/repository/files/kept.txt`, file)
    await bench.read(1)
    expect((await ana.get(`${one}/approvals`)).body.approved_by).toHaveLength(1)
    await settings(at, { reset_approvals_on_push: true })
    await ana.post(`${at}/repository/files/lost.txt`, file)
    await bench.read(1)
    expect((await ana.get(`${one}/approvals`)).body.approved_by).toEqual([])
  })

  test('is asked of open merge requests only', async () => {
    const { bench } = await stage()
    const one = await open(bench)
    await ana.put(one, { state_event: 'close' })
    expect((await ben.post(`${one}/approve`)).status).toBe(401)
    await ana.put(one, { state_event: 'reopen' })
    expect((await ben.post(`${one}/approve`)).status).toBe(201)
    await ana.put(`${one}/merge`)
    expect((await cleo.post(`${one}/approve`)).status).toBe(401)
  })

  test('is decided by the topmost group where it is strict', async () => {
    const group = await createGroup(ana, 'strict')
    const inside = await createProject(ana, 'in', { namespace_id: group.id })
    const at = `/projects/${inside.id}/merge_request_approval_setting`
    const top = `/groups/${group.id}/merge_request_approval_setting`
    expect((await ana.get(at)).body.allow_author_approval).toEqual({
      value: false,
      locked: false,
      inherited_from: null,
    })
    expect((await ana.put(at, { allow_author_approval: true })).body).toMatchObject({
      allow_author_approval: { value: true },
    })
    await ana.put(top, { allow_author_approval: false, allow_committer_approval: false })
    const locked = { value: false, locked: true, inherited_from: 'group' }
    expect((await ana.get(at)).body).toMatchObject({
      allow_author_approval: locked,
      allow_committer_approval: locked,
    })
    // What is locked is ignored, and the answer does not say so.
    const asked = await ana.put(at, { allow_author_approval: true, retain_approvals_on_push: true })
    expect(asked.body).toMatchObject({
      allow_author_approval: locked,
      retain_approvals_on_push: { value: true, locked: false },
    })
    const both = await ana.put(at, {
      retain_approvals_on_push: false,
      selective_code_owner_removals: true,
    })
    expect([both.status, Object.keys(both.body.message)]).toEqual([
      400,
      ['selective_code_owner_removals'],
    ])
    const inner = await createGroup(ana, 'sub', { parent_id: group.id })
    expect((await ana.get(`/groups/${inner.id}/merge_request_approval_setting`)).status).toBe(404)
  })
})

test('counts that are set at once make one rule', async () => {
  const { at, rules } = await stage()
  const replies = await Promise.all(
    [1, 2, 3].map((count) => ana.post(`${at}/approvals`, { approvals_before_merge: count })),
  )
  expect(replies.map((reply) => reply.status)).toEqual([201, 201, 201])
  const { body } = await ana.get(rules)
  expect(namesOf(body)).toEqual(['All Members'])
  const one = await ana.get(`${at}/approvals`)
  expect(one.body.approvals_before_merge).toBe(body[0].approvals_required)
})
