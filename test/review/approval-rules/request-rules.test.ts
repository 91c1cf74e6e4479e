import { describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')
const rita = useCaller(world, 'rita')

interface Stage {
  readonly bench: Bench
  /** The project. */
  readonly at: string
  /** Its rules. */
  readonly general: string
}

async function stage(): Promise<Stage> {
  const bench = await openBench(world, ana)
  for (const user of [ben, cleo]) await addMember(world, bench.project.id, user.id, 30)
  await addMember(world, bench.project.id, rita.id, 20)
  const at = `/projects/${bench.project.id}`
  return { bench, at, general: `${at}/approval_rules` }
}

async function open(bench: Bench, branch = 'topic', who = ana) {
  bench.commit(branch, { [`${branch}.txt`]: `${branch}\n` })
  const { body } = await bench.open(branch, {}, who)
  return `${bench.api}/${body.iid}`
}

interface Rule {
  readonly id: number
  readonly name: string
  readonly approvals_required: number
}
const briefOf = (rules: readonly Rule[]) =>
  rules.map((rule) => [rule.name, rule.approvals_required])
const usersOf = (users: readonly { username: string }[]) =>
  users.map((user) => user.username).sort()

describe('the rules of a merge request', () => {
  test('are those of its project, as they are now, until it has its own', async () => {
    const { bench, general } = await stage()
    const { body: rule } = await ana.post(general, {
      name: 'Security',
      approvals_required: 1,
      user_ids: [ben.id],
    })
    const one = await open(bench)
    const rules = `${one}/approval_rules`
    expect((await ana.get(rules)).body).toMatchObject([
      {
        id: rule.id,
        name: 'Security',
        rule_type: 'regular',
        approvals_required: 1,
        source_rule: { id: rule.id },
        overridden: false,
        section: null,
      },
    ])
    await ana.put(`${general}/${rule.id}`, {
      name: 'Safety',
      approvals_required: 2,
    })
    expect(briefOf((await ana.get(rules)).body)).toEqual([['Safety', 2]])

    const added = await ana.post(rules, { name: 'Own', approvals_required: 0 })
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({
      name: 'Own',
      rule_type: 'regular',
      source_rule: null,
    })
    expect((await ana.get(`${one}/approval_state`)).body.approval_rules_overwritten).toBe(true)
    await ana.put(`${general}/${rule.id}`, {
      name: 'Later',
      approvals_required: 5,
    })
    await ana.post(general, { name: 'Newer', approvals_required: 1 })
    expect(briefOf((await ana.get(rules)).body)).toEqual([
      ['Safety', 2],
      ['Own', 0],
    ])
    // Others still follow the project.
    const other = await open(bench, 'other')
    expect(briefOf((await ana.get(`${other}/approval_rules`)).body)).toEqual([
      ['Later', 5],
      ['Newer', 1],
    ])
  })

  test('may copy one of the project, with the count that is given', async () => {
    const { bench, general } = await stage()
    const { body: source } = await ana.post(general, {
      name: 'Security',
      approvals_required: 2,
      user_ids: [ben.id, cleo.id],
    })
    const one = await open(bench)
    const made = await ana.post(`${one}/approval_rules`, {
      name: 'Ignored',
      approvals_required: 1,
      approval_project_rule_id: source.id,
    })
    expect([made.status, made.body]).toMatchObject([
      201,
      { name: 'Security', approvals_required: 1, source_rule: { id: source.id } },
    ])
    expect(usersOf(made.body.users)).toEqual(['ben', 'cleo'])
    const foreign = await ana.post(`${one}/approval_rules`, {
      name: 'x',
      approvals_required: 1,
      approval_project_rule_id: 999_999,
    })
    expect(foreign.status).toBe(404)
    // The project's own rule is as it was.
    expect((await ana.get(`${general}/${source.id}`)).body.approvals_required).toBe(2)
  })

  test('may copy one that came later, and one of which the copy was removed', async () => {
    const { bench, general } = await stage()
    const rules = `${await open(bench)}/approval_rules`
    await ana.post(rules, { name: 'Own', approvals_required: 0 })
    const { body: later } = await ana.post(general, {
      name: 'Later',
      approvals_required: 2,
      user_ids: [cleo.id],
    })
    const copy = { name: 'Ignored', approvals_required: 1, approval_project_rule_id: later.id }
    for (const round of [1, 2]) {
      const made = await ana.post(rules, copy)
      expect([round, made.status, made.body.name]).toEqual([round, 201, 'Later'])
      expect(usersOf(made.body.users)).toEqual(['cleo'])
      expect(made.body.source_rule).toMatchObject({ id: later.id, approvals_required: 2 })
      expect((await ana.delete(`${rules}/${made.body.id}`)).status).toBe(204)
    }
    await ana.post(rules, { name: 'Later', approvals_required: 0 })
    expect((await ana.post(rules, copy)).status).toBe(400)
  })

  test('are changed and removed one by one, the project’s rule staying as it is', async () => {
    const { bench, general } = await stage()
    const rule = {
      name: 'Two eyes',
      approvals_required: 1,
      user_ids: [ben.id],
    }
    const { body: source } = await ana.post(general, rule)
    const one = await open(bench)
    const rules = `${one}/approval_rules`
    const changed = await ana.put(`${rules}/${source.id}`, {
      user_ids: [cleo.id],
    })
    expect(changed.status).toBe(200)
    expect([usersOf(changed.body.users), changed.body.approvals_required]).toEqual([['cleo'], 1])
    expect((await ana.get(`${rules}/${changed.body.id}`)).body).toEqual(changed.body)
    expect(usersOf((await ana.get(`${general}/${source.id}`)).body.users)).toEqual(['ben'])
    const renamed = await ana.put(`${rules}/${changed.body.id}`, {
      name: 'Other eyes',
    })
    expect([renamed.body.name, usersOf(renamed.body.users)]).toEqual(['Other eyes', ['cleo']])
    expect((await ana.delete(`${rules}/${changed.body.id}`)).status).toBe(204)
    expect((await ana.delete(`${rules}/${changed.body.id}`)).status).toBe(404)
    expect((await ana.get(rules)).body).toEqual([])
    expect((await ana.get(`${one}/approvals`)).body).toMatchObject({
      approved: true,
      approvals_required: 0,
    })
    expect((await ana.get(general)).body).toHaveLength(1)
  })

  test('are set by its author and by Developers', async () => {
    const { bench } = await stage()
    bench.commit('by-ben', { 'b.txt': 'b\n' })
    const one = await open(bench, 'by-ben', ben)
    const rule = (name: string) => ({ name, approvals_required: 0 })
    expect((await ben.post(`${one}/approval_rules`, rule('author'))).status).toBe(201)
    expect((await cleo.post(`${one}/approval_rules`, rule('developer'))).status).toBe(201)
    expect((await rita.post(`${one}/approval_rules`, rule('reporter'))).status).toBe(403)
    expect((await rita.get(`${one}/approval_rules`)).body).toHaveLength(2)
  })

  test('refuse what they cannot be', async () => {
    const { bench } = await stage()
    const one = await open(bench)
    const rules = `${one}/approval_rules`
    const rule = { name: 'Taken', approvals_required: 1 }
    const { body: first } = await ana.post(rules, rule)
    const refusals: [object, object][] = [
      [rule, { message: { name: ['has already been taken'] } }],
      [{ ...rule, name: '' }, { message: { name: ["can't be blank"] } }],
      [{ name: 'x' }, { error: 'approvals_required is missing' }],
      [
        { name: 'x', approvals_required: 101 },
        { error: 'approvals_required does not have a valid value' },
      ],
      [
        { name: 'x'.repeat(1025), approvals_required: 1 },
        { error: 'name is too long (maximum is 1024 characters)' },
      ],
    ]
    for (const [body, answer] of refusals) {
      const reply = await ana.post(rules, body)
      expect([body, reply.status, reply.body]).toEqual([body, 400, answer])
    }
    const { body: second } = await ana.post(rules, {
      name: 'x'.repeat(1024),
      approvals_required: 100,
    })
    const renamed = await ana.put(`${rules}/${second.id}`, { name: 'Taken' })
    expect([renamed.status, renamed.body]).toEqual([
      400,
      { message: { name: ['has already been taken'] } },
    ])
    const blank = await ana.put(`${rules}/${first.id}`, { name: ' ' })
    expect([blank.status, blank.body]).toEqual([400, { message: { name: ["can't be blank"] } }])
  })

  test('are given back to the project when it forbids them, and stay so when it allows them again', async () => {
    const { bench, at, general } = await stage()
    await ana.post(general, { name: 'General', approvals_required: 1 })
    const open1 = await open(bench, 'open')
    const merged = await open(bench, 'merged')
    for (const one of [open1, merged]) {
      await ana.post(`${one}/approval_rules`, {
        name: 'Own',
        approvals_required: 0,
      })
    }
    const [ofProject] = (await ana.get(`${merged}/approval_rules`)).body
    await ana.delete(`${merged}/approval_rules/${ofProject.id}`)
    expect((await ana.put(`${merged}/merge`)).status).toBe(200)
    const forbid = (value: boolean) =>
      ana.post(`${at}/approvals`, {
        disable_overriding_approvers_per_merge_request: value,
      })
    await forbid(true)
    const namesIn = async (one: string) => briefOf((await ana.get(`${one}/approval_rules`)).body)
    expect(await namesIn(open1)).toEqual([['General', 1]])
    // What is merged keeps what it was merged by.
    expect(await namesIn(merged)).toEqual([['Own', 0]])
    await forbid(false)
    expect(await namesIn(open1)).toEqual([['General', 1]])
  })
})

describe('who may satisfy a rule', () => {
  test('are members that it names, of whatever role, once each', async () => {
    const { bench, general } = await stage()
    const stranger = await world.user('outsider')
    const { body: rule } = await ana.post(general, {
      name: 'Named',
      approvals_required: 2,
      user_ids: `${rita.id},${ben.id},${ben.id},${stranger.id}`,
      usernames: ['ben', 'nobody-at-all'],
    })
    expect(usersOf(rule.users)).toEqual(['ben', 'rita'])
    const one = await open(bench)
    const seen = await rita.get(`${one}/approvals`)
    expect(seen.body).toMatchObject({
      user_can_approve: true,
      user_has_approved: false,
    })
    const first = await rita.post(`${one}/approve`)
    expect([first.status, first.body]).toMatchObject([201, { approvals_left: 1, approved: false }])
    expect(usersOf(first.body.suggested_approvers)).toEqual(['ben'])
    // Developers may approve too, but do not count for the rule.
    const beside = await cleo.post(`${one}/approve`)
    expect([beside.status, beside.body]).toMatchObject([201, { approvals_left: 1 }])
    expect(beside.body.approved_by).toHaveLength(2)
    const last = await ben.post(`${one}/approve`)
    expect(last.body).toMatchObject({
      approvals_left: 0,
      approved: true,
      approval_rules_left: [],
    })
    const [judged] = (await ana.get(`${one}/approval_state`)).body.rules
    expect(usersOf(judged.approved_by)).toEqual(['ben', 'rita'])
  })

  test('are Developers where anybody may, not reporters', async () => {
    const { bench, general } = await stage()
    await ana.post(general, {
      name: 'Any',
      rule_type: 'any_approver',
      approvals_required: 1,
    })
    const one = await open(bench)
    expect((await rita.get(`${one}/approvals`)).body.user_can_approve).toBe(false)
    expect((await rita.post(`${one}/approve`)).status).toBe(401)
    expect((await ana.get(`${one}/approvals`)).body).toMatchObject({
      has_approval_rules: false,
      approvals_required: 1,
      approvals_left: 1,
      user_can_approve: false,
    })
    expect((await ben.post(`${one}/approve`)).body.approved).toBe(true)
  })

  test('change with the members of a group', async () => {
    const { bench, general } = await stage()
    const group = await createGroup(ana, `team-${bench.project.id}`, { visibility: 'public' })
    const late = await world.user(`late-${bench.project.id}`)
    await addMember(world, bench.project.id, late.id, 20)
    const rule = { name: 'Team', approvals_required: 1, group_ids: [group.id] }
    expect((await ana.post(general, rule)).body.groups).toMatchObject([{ id: group.id }])
    const one = await open(bench)
    expect((await late.post(`${one}/approve`)).status).toBe(401)
    await ana.post(`/groups/${group.id}/members`, {
      user_id: late.id,
      access_level: 20,
    })
    expect((await late.post(`${one}/approve`)).body).toMatchObject({
      approved: true,
    })
    await ana.delete(`/groups/${group.id}/members/${late.id}`)
    expect((await ana.get(`${one}/approval_state`)).body.rules[0].approved_by).toEqual([])
  })
})
