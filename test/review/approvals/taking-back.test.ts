import { describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')

async function stage() {
  const bench = await openBench(world, ana)
  for (const user of [ben, cleo]) await addMember(world, bench.project.id, user.id, 30)
  bench.commit('topic', { 'topic.txt': 'topic\n' })
  const { body } = await bench.open('topic', {
    reviewer_ids: [ben.id, cleo.id],
  })
  const at = `/projects/${bench.project.id}`
  return { bench, at, one: `${bench.api}/${body.iid}` }
}

async function push(at: string, path: string) {
  const file = {
    branch: 'topic',
    commit_message: `Add ${path}`,
    content: path,
  }
  expect((await ana.post(`${at}/repository/files/${path}`, file)).status).toBe(201)
}

const approvers = async (one: string) =>
  (await ana.get(`${one}/approvals`)).body.approved_by.map(
    (given: { user: { username: string } }) => given.user.username,
  )

const states = async (one: string) =>
  Object.fromEntries(
    (await ana.get(`${one}/reviewers`)).body.map(
      (reviewer: { user: { username: string }; state: string }) => [
        reviewer.user.username,
        reviewer.state,
      ],
    ),
  )

test('a push takes the approvals of earlier heads, and leaves those of its own', async () => {
  const { bench, at, one } = await stage()
  expect((await ben.post(`${one}/approve`)).status).toBe(201)
  await push(at, 'more.txt')
  const { body } = await ana.get(`${at}/repository/branches/topic`)
  expect((await cleo.post(`${one}/approve`, { sha: body.commit.id })).status).toBe(201)
  await bench.read(1)
  expect(await approvers(one)).toEqual(['cleo'])
})

test('wanting changes of what is merged leaves the approvals that it was merged with', async () => {
  const { one } = await stage()
  expect((await ben.post(`${one}/approve`)).status).toBe(201)
  expect((await ana.put(`${one}/merge`)).status).toBe(200)
  await ben.post(`${one}/notes`, { body: '/request_changes' })
  expect(await approvers(one)).toEqual(['ben'])
})

/** A bot of the project, and what it may call as. */
async function botOf(bench: Bench, accessLevel: number): Promise<Caller> {
  const made = await ana.post(`/projects/${bench.project.id}/access_tokens`, {
    name: 'bot',
    scopes: ['api'],
    access_level: accessLevel,
    expires_at: '2026-12-31',
  })
  expect(made.status).toBe(201)
  return world.as(made.body.token)
}

describe('all approvals', () => {
  test('are taken back by a bot of the project, not by people', async () => {
    const { bench, one } = await stage()
    await ben.post(`${one}/approve`)
    await cleo.post(`${one}/approve`)
    for (const human of [ana, ben, world.root]) {
      expect((await human.put(`${one}/reset_approvals`)).status).toBe(401)
    }
    expect(await approvers(one)).toEqual(['ben', 'cleo'])
    const bot = await botOf(bench, 30)
    expect((await bot.put(`${one}/reset_approvals`)).status).toBe(202)
    expect(await approvers(one)).toEqual([])
    // Nothing is left to take back, and whoever approved may do so again.
    expect((await bot.put(`${one}/reset_approvals`)).status).toBe(202)
    expect((await ben.post(`${one}/unapprove`)).status).toBe(404)
    expect((await ben.post(`${one}/approve`)).status).toBe(201)
    expect((await ana.put(`${one}/merge`)).status).toBe(200)
    expect((await bot.put(`${one}/reset_approvals`)).status).toBe(401)
    expect(await approvers(one)).toEqual(['ben'])
  })

  test('are left alone by bots that could not change the merge request', async () => {
    const { bench, one } = await stage()
    await ben.post(`${one}/approve`)
    const bot = await botOf(bench, 20)
    expect((await bot.put(`${one}/reset_approvals`)).status).toBe(401)
    expect(await approvers(one)).toEqual(['ben'])
  })

  test('go with a push, and those who gave them are no longer shown as having approved', async () => {
    const { bench, at, one } = await stage()
    await ben.post(`${one}/approve`)
    expect(await states(one)).toEqual({ ben: 'approved', cleo: 'unreviewed' })
    await push(at, 'more.txt')
    await bench.read(1)
    expect(await approvers(one)).toEqual([])
    expect(await states(one)).toEqual({
      ben: 'unapproved',
      cleo: 'unreviewed',
    })
  })

  test('go by the bot, with the states of the reviewers', async () => {
    const { bench, one } = await stage()
    await ben.post(`${one}/approve`)
    await (await botOf(bench, 30)).put(`${one}/reset_approvals`)
    expect(await states(one)).toEqual({
      ben: 'unapproved',
      cleo: 'unreviewed',
    })
  })

  test('stay through a push that only brings in the target', async () => {
    const { bench, at, one } = await stage()
    await ben.post(`${one}/approve`)
    bench.commit('main', { 'elsewhere.txt': 'x\n' })
    const picked = await ana.put(`${one}/rebase`)
    expect(picked.status).toBe(202)
    const { body } = await bench.read(1)
    expect((await ana.get(`${one}/versions`)).body).toHaveLength(2)
    expect(body.diverged_commits_count ?? 0).toBe(0)
    expect(await approvers(one)).toEqual(['ben'])
    expect(await states(one)).toEqual({ ben: 'approved', cleo: 'unreviewed' })
    await push(at, 'more.txt')
    await bench.read(1)
    expect(await approvers(one)).toEqual([])
  })
})

describe('one approval', () => {
  test('is taken back by whoever gave it, and the others stay', async () => {
    const { one } = await stage()
    await ben.post(`${one}/approve`)
    await cleo.post(`${one}/approve`)
    expect((await ana.post(`${one}/unapprove`)).status).toBe(404)
    const taken = await ben.post(`${one}/unapprove`)
    expect(taken.body).toMatchObject({
      user_has_approved: false,
      user_can_approve: true,
    })
    expect(await approvers(one)).toEqual(['cleo'])
    expect(await states(one)).toEqual({ ben: 'unapproved', cleo: 'approved' })
  })

  test('asked for many times at once is given once', async () => {
    const { one } = await stage()
    const replies = await Promise.all([1, 2, 3, 4].map(() => ben.post(`${one}/approve`)))
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 401, 401, 401])
    expect(await approvers(one)).toEqual(['ben'])
    const { body: notes } = await ana.get(`${one}/notes`)
    expect(notes.map((note: { body: string }) => note.body)).toEqual([
      'approved this merge request',
    ])
    const taken = await Promise.all([1, 2, 3].map(() => ben.post(`${one}/unapprove`)))
    expect(taken.map((reply) => reply.status).sort()).toEqual([201, 404, 404])
  })

  test('for another head is refused with the head that there is', async () => {
    const { one } = await stage()
    const { sha } = (await ana.get(one)).body
    const refused = await ben.post(`${one}/approve`, { sha: 'a'.repeat(40) })
    expect([refused.status, refused.body]).toEqual([
      409,
      { message: `SHA does not match HEAD of source branch: ${sha}` },
    ])
    expect(await approvers(one)).toEqual([])
    expect((await ben.post(`${one}/approve`, { sha })).status).toBe(201)
  })

  test('shows when it was given, and the merge request as it is', async () => {
    const { bench, one } = await stage()
    world.setNow('2026-05-06T12:00:00.000Z')
    const { body } = await ben.post(`${one}/approve`)
    world.setNow('2026-05-04T10:00:00.000Z')
    const { body: request } = await ana.get(one)
    expect(body).toMatchObject({
      id: request.id,
      iid: request.iid,
      project_id: bench.project.id,
      title: request.title,
      description: null,
      state: 'opened',
      created_at: request.created_at,
      merge_status: 'can_be_merged',
      approved_by: [
        {
          approved_at: '2026-05-06T12:00:00.000Z',
          user: {
            id: ben.id,
            username: 'ben',
            name: 'ben',
            state: 'active',
            web_url: expect.stringMatching(/\/ben$/),
          },
        },
      ],
      approvers: [],
      approver_groups: [],
      merge_request_approvers_available: true,
      multiple_approval_rules_available: true,
      require_password_to_approve: false,
    })
    expect((await ana.get(`${one}/approvals`)).body).toEqual({
      ...body,
      user_has_approved: false,
      user_can_approve: false,
    })
  })
})

describe('a rule that nobody can complete', () => {
  test('counts as approved while approvals are still missing', async () => {
    const { at, one } = await stage()
    const rule = { name: 'Many', approvals_required: 3, user_ids: [ben.id] }
    await ana.post(`${at}/approval_rules`, rule)
    const before = (await ana.get(`${one}/approvals`)).body
    expect(before).toMatchObject({ approved: false, approvals_left: 3 })
    expect(before.invalid_approvers_rules).toMatchObject([{ name: 'Many' }])
    const after = await ben.post(`${one}/approve`)
    expect(after.body).toMatchObject({ approved: true, approvals_left: 2 })
    expect((await ana.get(one)).body.detailed_merge_status).toBe('mergeable')
  })
})

describe('the settings of approvals', () => {
  test('stay as they are where a change does not name them', async () => {
    const { at } = await stage()
    const change = (body: object) => ana.post(`${at}/approvals`, body)
    await change({
      merge_requests_author_approval: true,
      reset_approvals_on_push: false,
    })
    const selective = await change({ selective_code_owner_removals: true })
    expect([selective.status, selective.body]).toMatchObject([
      201,
      {
        merge_requests_author_approval: true,
        reset_approvals_on_push: false,
        selective_code_owner_removals: true,
        merge_requests_disable_committers_approval: false,
        disable_overriding_approvers_per_merge_request: false,
        approvers: [],
        approver_groups: [],
        approvals_before_merge: 0,
      },
    ])
    const both = await change({ reset_approvals_on_push: true })
    expect(both.status).toBe(400)
    expect((await ana.get(`${at}/approvals`)).body).toEqual(selective.body)
    const one = await change({
      reset_approvals_on_push: true,
      selective_code_owner_removals: false,
    })
    expect(one.body).toMatchObject({
      reset_approvals_on_push: true,
      selective_code_owner_removals: false,
    })
  })

  test('know the demand for a password under its old and its new name', async () => {
    const { at } = await stage()
    const old = await ana.post(`${at}/approvals`, {
      require_password_to_approve: true,
    })
    const wanted = {
      require_password_to_approve: true,
      require_reauthentication_to_approve: true,
    }
    expect(old.body).toMatchObject(wanted)
    const setting = await ana.get(`${at}/merge_request_approval_setting`)
    expect(setting.body).toMatchObject({
      require_password_to_approve: { value: true },
      require_reauthentication_to_approve: { value: true },
    })
    const off = await ana.post(`${at}/approvals`, {
      require_reauthentication_to_approve: false,
    })
    expect(off.body).toMatchObject({
      require_password_to_approve: false,
      require_reauthentication_to_approve: false,
    })
  })

  test('of an archived project are for its maintainers to read', async () => {
    const { at } = await stage()
    await ana.post(`${at}/approval_rules`, {
      name: 'Kept',
      approvals_required: 1,
    })
    for (const path of ['approvals', 'approval_rules']) {
      expect((await ben.get(`${at}/${path}`)).status).toBe(200)
    }
    await ana.post(`${at}/archive`)
    for (const path of ['approvals', 'approval_rules']) {
      expect((await ben.get(`${at}/${path}`)).status).toBe(403)
      expect((await ana.get(`${at}/${path}`)).status).toBe(200)
    }
    expect((await ana.post(`${at}/approvals`, { reset_approvals_on_push: false })).status).toBe(403)
  })
})
