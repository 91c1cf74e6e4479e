import { describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mona = useCaller(world, 'mona')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')
const rita = useCaller(world, 'rita')
const stranger = useCaller(world, 'stranger')

async function stage() {
  const bench = await openBench(world, ana)
  for (const [user, level] of [
    [mona, 40],
    [ben, 30],
    [cleo, 30],
    [rita, 20],
  ] as const) {
    await addMember(world, bench.project.id, user.id, level)
  }
  const at = `/projects/${bench.project.id}`
  return { bench, at, rules: `${at}/approval_rules` }
}

let shared: Awaited<ReturnType<typeof stage>> | undefined

/** A project without rules, for those who open no merge requests. */
async function plain() {
  shared ??= await stage()
  const { bench } = shared
  await world.ctx.db
    .deleteFrom('approval_rules')
    .where('project_id', '=', bench.project.id)
    .execute()
  return shared
}

async function open(bench: Bench, branch = 'topic') {
  bench.commit(branch, { [`${branch}.txt`]: `${branch}\n` })
  const { body } = await bench.open(branch)
  return `${bench.api}/${body.iid}`
}

const statusAndBody = ({ status, body }: Reply) => [status, body]
const usersOf = (body: readonly { username: string }[]) => body.map((one) => one.username).sort()
const namesOf = (body: readonly { name: string }[]) => body.map((one) => one.name)

describe('a rule of a project', () => {
  test('is read by members and set by Maintainers', async () => {
    const { rules } = await plain()
    const { body: rule } = await mona.post(rules, { name: 'r', approvals_required: 1 })
    const seen: Record<string, number[]> = {}
    for (const by of [ana, mona, ben, rita, stranger]) {
      seen[by.username] = [
        (await by.get(rules)).status,
        (await by.get(`${rules}/${rule.id}`)).status,
        (await by.post(rules, { name: by.username, approvals_required: 0 })).status,
        (await by.put(`${rules}/${rule.id}`, { approvals_required: 2 })).status,
      ]
    }
    expect(seen).toEqual({
      ana: [200, 200, 201, 200],
      mona: [200, 200, 201, 200],
      ben: [200, 200, 403, 403],
      rita: [200, 200, 403, 403],
      stranger: [404, 404, 404, 404],
    })
    expect((await ben.delete(`${rules}/${rule.id}`)).status).toBe(403)
    expect((await mona.delete(`${rules}/${rule.id}`)).status).toBe(204)
  })

  test('of an archived project is for Maintainers to read', async () => {
    const { at, rules } = await stage()
    const { body: rule } = await ana.post(rules, { name: 'r', approvals_required: 1 })
    expect((await ana.post(`${at}/archive`)).status).toBe(201)
    for (const where of [rules, `${rules}/${rule.id}`]) {
      expect((await ben.get(where)).status).toBe(403)
      expect((await mona.get(where)).status).toBe(200)
    }
    expect((await mona.put(`${rules}/${rule.id}`, { approvals_required: 2 })).status).toBe(403)
  })

  test('for any approver exists once, and its count is a field of the project, too', async () => {
    const { at, rules } = await plain()
    const any = { name: 'Anybody', rule_type: 'any_approver', approvals_required: 2 }
    expect((await ana.post(rules, any)).body).toMatchObject({ rule_type: 'any_approver' })
    expect(statusAndBody(await ana.post(rules, { ...any, name: 'Other' }))).toEqual([
      400,
      { message: { rule_type: ['any-approver for the project already exists'] } },
    ])
    expect((await ana.get(`${at}/approvals`)).body.approvals_before_merge).toBe(2)
    const changed = await ana.post(`${at}/approvals`, { approvals_before_merge: 1 })
    expect([changed.status, changed.body.approvals_before_merge]).toEqual([201, 1])
    expect((await ana.get(rules)).body).toMatchObject([
      { rule_type: 'any_approver', approvals_required: 1 },
    ])
    // One of the same name and another kind is another rule.
    const regular = await ana.post(rules, { name: 'Anybody', approvals_required: 0 })
    expect(regular.status).toBe(201)
  })

  test('keeps the reserved name for the report that it is for', async () => {
    const { rules } = await plain()
    const message = {
      report_type: ['Coverage-Check is reserved for the report type code_coverage'],
    }
    const report = { rule_type: 'report_approver', report_type: 'code_coverage' }
    for (const body of [
      { name: 'Coverage-Check' },
      { name: 'Coverage-Check', rule_type: 'any_approver' },
      { name: 'Mine', ...report },
    ]) {
      const reply = await ana.post(rules, { ...body, approvals_required: 1 })
      expect(statusAndBody(reply)).toEqual([400, { message }])
    }
    const made = await ana.post(rules, { name: 'Coverage-Check', ...report, approvals_required: 1 })
    expect(made.status).toBe(201)
    const renamed = await ana.put(`${rules}/${made.body.id}`, { name: 'Mine' })
    expect(statusAndBody(renamed)).toEqual([400, { message }])
    const { body: other } = await ana.post(rules, { name: 'Plain', approvals_required: 1 })
    const taking = await ana.put(`${rules}/${other.id}`, { name: 'Coverage-Check' })
    expect(taking.status).toBe(400)
    expect(namesOf((await ana.get(rules)).body)).toEqual(['Coverage-Check', 'Plain'])
  })

  test('takes the older names for people, which lose against the newer ones', async () => {
    const { rules } = await plain()
    const older = await ana.post(rules, { name: 'old', approvals_required: 1, users: [ben.id] })
    expect(usersOf(older.body.users)).toEqual(['ben'])
    const both = await ana.post(rules, {
      name: 'both',
      approvals_required: 1,
      users: [ben.id],
      user_ids: `${cleo.id},${rita.id}`,
    })
    expect(usersOf(both.body.users)).toEqual(['cleo', 'rita'])
    const union = await ana.put(`${rules}/${both.body.id}`, {
      user_ids: [ben.id],
      usernames: ['rita', 'stranger'],
    })
    expect(usersOf(union.body.users)).toEqual(['ben', 'rita'])
  })

  test.each([0, 1, 100])('may ask for %i approvals', async (count) => {
    const { rules } = await plain()
    const made = await ana.post(rules, { name: 'r', approvals_required: count })
    expect([made.status, made.body.approvals_required]).toEqual([201, count])
  })

  test('cannot be changed into what it could not have been made', async () => {
    const { rules } = await plain()
    const { body: first } = await ana.post(rules, { name: 'first', approvals_required: 1 })
    const { body: second } = await ana.post(rules, { name: 'second', approvals_required: 1 })
    const refusals: [object, object][] = [
      [{ name: 'first' }, { message: { name: ['has already been taken'] } }],
      [{ name: '  ' }, { message: { name: ["can't be blank"] } }],
      [{ approvals_required: 101 }, { error: 'approvals_required does not have a valid value' }],
      [{ approvals_required: 'many' }, { error: 'approvals_required is invalid' }],
    ]
    for (const [body, answer] of refusals) {
      const reply = await ana.put(`${rules}/${second.id}`, { user_ids: [ben.id], ...body })
      expect([body, ...statusAndBody(reply)]).toEqual([body, 400, answer])
    }
    expect((await ana.get(`${rules}/${second.id}`)).body).toEqual(second)
    expect((await ana.put(`${rules}/${first.id}`, { name: 'first' })).status).toBe(200)
  })

  test('of another project is not found, whatever is asked', async () => {
    const [one, other] = [await plain(), await stage()]
    const { body: foreign } = await ana.post(other.rules, { name: 'r', approvals_required: 1 })
    const path = `${one.rules}/${foreign.id}`
    const replies = [
      await ana.get(path),
      await ana.put(path, { name: 'stolen' }),
      await ana.delete(path),
    ]
    for (const reply of replies) {
      expect(statusAndBody(reply)).toEqual([404, { message: '404 Not found' }])
    }
    expect((await ana.get(other.rules)).body).toEqual([foreign])
  })

  test('names no protected branch of another project', async () => {
    const [one, other] = [await plain(), await stage()]
    const foreign = await ana.post(`${other.at}/protected_branches`, { name: 'main' })
    const own = await ana.post(`${one.at}/protected_branches`, { name: 'main' })
    const made = await ana.post(one.rules, {
      name: 'r',
      approvals_required: 1,
      protected_branch_ids: [foreign.body.id, own.body.id],
    })
    expect(made.body.protected_branches.map(({ id }: { id: number }) => id)).toEqual([own.body.id])
  })

  test('and its changes are audited', async () => {
    const { bench, rules } = await plain()
    const last = await world.ctx.db
      .selectFrom('audit_events')
      .select('id')
      .orderBy('id', 'desc')
      .executeTakeFirst()
    const { body: rule } = await ana.post(rules, { name: 'r', approvals_required: 1 })
    await mona.put(`${rules}/${rule.id}`, { name: 's' })
    await ana.put(`${rules}/${rule.id}`, { name: ' ' })
    await ana.delete(`${rules}/${rule.id}`)
    const events = await world.ctx.db
      .selectFrom('audit_events')
      .select(['action', 'author_id'])
      .where('entity_type', '=', 'Project')
      .where('entity_id', '=', bench.project.id)
      .where('action', 'like', 'approval_rule%')
      .where('id', '>', last?.id ?? 0)
      .orderBy('id')
      .execute()
    expect(events).toEqual([
      { action: 'approval_rule_created', author_id: ana.id },
      { action: 'approval_rule_updated', author_id: mona.id },
      { action: 'approval_rule_deleted', author_id: ana.id },
    ])
  })
})

describe('a rule of a merge request', () => {
  test('is refused where the project wants its own rules everywhere, and nothing changes', async () => {
    const { bench, at, rules } = await stage()
    const general = { name: 'General', approvals_required: 1, user_ids: [ben.id] }
    const { body: rule } = await ana.post(rules, general)
    const one = await open(bench)
    await ana.post(`${at}/approvals`, { disable_overriding_approvers_per_merge_request: true })
    const own = `${one}/approval_rules`
    const replies = [
      await ana.post(own, { name: 'Own', approvals_required: 0 }),
      await ana.put(`${own}/${rule.id}`, { approvals_required: 0 }),
      await ana.delete(`${own}/${rule.id}`),
    ]
    expect(replies.map(({ status }) => status)).toEqual([422, 422, 422])
    expect((await ana.get(`${one}/approval_state`)).body).toMatchObject({
      approval_rules_overwritten: false,
      rules: [{ name: 'General', approvals_required: 1, approved: false }],
    })
  })

  test('that is for a report is prohibited to be changed or removed', async () => {
    const { bench, rules } = await stage()
    const { body: rule } = await ana.post(rules, {
      name: 'Coverage-Check',
      rule_type: 'report_approver',
      report_type: 'code_coverage',
      approvals_required: 1,
    })
    const one = await open(bench)
    const listed = (await ana.get(`${one}/approval_rules`)).body
    expect(namesOf(listed)).toEqual(['Coverage-Check'])
    const path = `${one}/approval_rules/${rule.id}`
    for (const reply of [await ana.put(path, { approvals_required: 0 }), await ana.delete(path)]) {
      expect(statusAndBody(reply)).toEqual([403, { message: ['Prohibited'] }])
    }
  })

  test('is listed in pages, with its fields the same in each of its forms', async () => {
    const { bench } = await stage()
    const one = await open(bench)
    for (const name of ['a', 'b', 'c']) {
      await ana.post(`${one}/approval_rules`, { name, approvals_required: 1, user_ids: [ben.id] })
    }
    const page = await ana.get(`${one}/approval_rules?per_page=2&page=2`)
    expect([namesOf(page.body), page.headers.get('x-total')]).toEqual([['c'], '3'])
    const [rule] = page.body
    expect((await ana.get(`${one}/approval_rules/${rule.id}`)).body).toEqual(rule)
    const state = (await ana.get(`${one}/approval_state`)).body.rules
    expect(state.at(-1)).toEqual({ ...rule, approved: false, approved_by: [] })
    const settings = (await ana.get(`${one}/approval_settings`)).body.rules
    expect(settings.at(-1)).toMatchObject({
      ...rule,
      approvers: [{ username: 'ben' }],
      commented_by: [],
    })
  })

  test('is not found through another merge request', async () => {
    const { bench } = await stage()
    const [one, other] = [await open(bench, 'one'), await open(bench, 'other')]
    const { body } = await ana.post(`${one}/approval_rules`, { name: 'r', approvals_required: 1 })
    const path = `${other}/approval_rules/${body.id}`
    expect((await ana.get(path)).status).toBe(404)
    expect((await ana.put(path, { name: 'x' })).status).toBe(404)
    expect((await ana.delete(path)).status).toBe(404)
    expect(namesOf((await ana.get(`${one}/approval_rules`)).body)).toEqual(['r'])
    expect((await ana.get(`${other}/approval_state`)).body.approval_rules_overwritten).toBe(false)
  })
})

describe('approvals against rules', () => {
  test('that ask for none are optional: approved, and still taken', async () => {
    const { bench, rules } = await stage()
    await ana.post(rules, { name: 'Maybe', approvals_required: 0, user_ids: [ben.id] })
    const one = await open(bench)
    expect((await ana.get(`${one}/approvals`)).body).toMatchObject({
      approved: true,
      approvals_required: 0,
      approvals_left: 0,
      approval_rules_left: [],
      has_approval_rules: true,
    })
    const given = await ben.post(`${one}/approve`)
    expect([
      given.status,
      usersOf(given.body.approved_by.map((one: { user: object }) => one.user)),
    ]).toEqual([201, ['ben']])
  })

  test('are given once and taken back once', async () => {
    const { bench } = await stage()
    const one = await open(bench)
    expect((await ben.post(`${one}/unapprove`)).status).toBe(404)
    expect((await ben.post(`${one}/approve`)).status).toBe(201)
    expect((await ben.post(`${one}/approve`)).status).toBe(401)
    expect((await ben.post(`${one}/unapprove`)).status).toBe(201)
    expect((await ben.post(`${one}/unapprove`)).status).toBe(404)
    expect((await ana.get(`${one}/approvals`)).body.approved_by).toEqual([])
  })

  test('are refused to each who may not give them', async () => {
    const { bench } = await stage()
    const one = await open(bench)
    const statuses: Record<string, number> = {}
    for (const by of [ana, mona, ben, rita, stranger]) {
      statuses[by.username] = (await by.post(`${one}/approve`)).status
    }
    expect(statuses).toEqual({ ana: 401, mona: 201, ben: 201, rita: 401, stranger: 404 })
  })

  test('of somebody who left the project no longer satisfy a rule', async () => {
    const { bench, at, rules } = await stage()
    await ana.post(rules, { name: 'Two', approvals_required: 1, user_ids: [ben.id, cleo.id] })
    const one = await open(bench)
    expect((await ben.post(`${one}/approve`)).body.approved).toBe(true)
    expect((await ana.delete(`${at}/members/${ben.id}`)).status).toBe(204)
    const { body } = await ana.get(`${one}/approvals`)
    expect(body).toMatchObject({ approved: false, approvals_left: 1 })
    expect(usersOf(body.suggested_approvers)).toEqual(['cleo'])
  })

  test('may require more approvals than there are people, and the rule says so', async () => {
    const { bench, rules } = await stage()
    await ana.post(rules, { name: 'Many', approvals_required: 5, user_ids: [ben.id] })
    const one = await open(bench)
    expect((await ana.get(`${one}/approvals`)).body.invalid_approvers_rules).toMatchObject([
      { name: 'Many', rule_type: 'regular' },
    ])
    // Nobody is left who could give more: it counts as approved, with approvals left.
    expect((await ben.post(`${one}/approve`)).body).toMatchObject({
      approved: true,
      approvals_left: 4,
    })
  })

  test('hold up the merge until the last rule has its own', async () => {
    const { bench, rules } = await stage()
    await ana.post(rules, { name: 'One', approvals_required: 1, user_ids: [ben.id] })
    await ana.post(rules, { name: 'Other', approvals_required: 1, user_ids: [cleo.id] })
    const one = await open(bench)
    await ben.post(`${one}/approve`)
    expect(namesOf((await ana.get(`${one}/approvals`)).body.approval_rules_left)).toEqual(['Other'])
    expect((await ana.get(one)).body.detailed_merge_status).toBe('not_approved')
    expect((await ana.put(`${one}/merge`)).status).not.toBe(200)
    await cleo.post(`${one}/approve`)
    expect((await ana.get(one)).body.detailed_merge_status).toBe('mergeable')
    expect((await ana.put(`${one}/merge`)).body.state).toBe('merged')
  })
})
