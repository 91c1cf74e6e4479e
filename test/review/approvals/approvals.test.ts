import { describe, expect, test } from 'vitest'
import { actAs } from '../../../src/access/act-as.ts'
import { hashPassword } from '../../../src/access/authentication/password.ts'
import { getVisibleProject } from '../../../src/access/subjects.ts'
import { approve } from '../../../src/review/approvals/approve.ts'
import { reload } from '../../../src/review/merge-requests/find.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')

/** A project of ana's with two developers, and an open merge request of hers. */
async function stage(): Promise<Bench & { readonly at: string; readonly project7: string }> {
  const bench = await openBench(world, ana)
  await addMember(world, bench.project.id, ben.id, 30)
  await addMember(world, bench.project.id, cleo.id, 30)
  bench.commit('topic', { 'src/a.ts': 'a\n' })
  const { body } = await bench.open('topic')
  return { ...bench, at: `${bench.api}/${body.iid}`, project7: `/projects/${bench.project.id}` }
}

describe('approvals', () => {
  test('are shown to nobody who is not signed in, of a public project either', async () => {
    const { at, project7 } = await stage()
    await ana.put(project7, { visibility: 'public' })
    const rules = `${at}/approval_rules`
    const { body: rule } = await ana.post(rules, { name: 'Own', approvals_required: 0 })
    const about = ['approvals', 'approval_state', 'approval_settings', 'approval_rules']
    for (const path of [...about.map((one) => `${at}/${one}`), `${rules}/${rule.id}`]) {
      expect((await world.nobody.get(path)).status, path).toBe(401)
      expect((await ben.get(path)).status, path).toBe(200)
    }
  })

  test('are refused when the head moves between the look and the approval', async () => {
    const bench = await stage()
    const ctx = await actAs(world.ctx, ben.id)
    const project = await getVisibleProject(ctx, String(bench.project.id))
    const seen = await reload(ctx, (await ben.get(bench.at)).body.id)
    const written = await ana.post(`${bench.project7}/repository/commits`, {
      branch: 'topic',
      commit_message: 'Add more',
      actions: [{ action: 'create', file_path: 'unseen.txt', content: 'x' }],
    })
    expect(written.status).toBe(201)
    await expect(approve(ctx, project, seen, {})).rejects.toMatchObject({ status: 409 })
    expect((await ben.get(`${bench.at}/approvals`)).body.approved_by).toEqual([])
    expect((await ben.post(`${bench.at}/approve`)).status).toBe(201)
  })

  test('are given once, by others than the author, for the head that was seen', async () => {
    const { at } = await stage()
    const head = (await ana.get(at)).body.sha
    expect((await ana.post(`${at}/approve`)).status).toBe(401)
    const wrong = await ben.post(`${at}/approve`, { sha: 'a'.repeat(40) })
    expect([wrong.status, wrong.body]).toEqual([
      409,
      { message: `SHA does not match HEAD of source branch: ${head}` },
    ])
    const given = await ben.post(`${at}/approve`, { sha: head })
    expect(given.status).toBe(201)
    expect(given.body).toMatchObject({
      approved: true,
      user_has_approved: true,
      user_can_approve: false,
    })
    expect(given.body.approved_by[0].user.username).toBe('ben')
    expect((await ben.post(`${at}/approve`)).status).toBe(401)
    const taken = await ben.post(`${at}/unapprove`)
    expect([taken.status, taken.body.approved_by]).toEqual([201, []])
    expect((await ben.post(`${at}/unapprove`)).status).toBe(404)
    expect((await ana.put(`${at}/reset_approvals`)).status).toBe(401)
    const notes = await ana.get(`${at}/notes?sort=asc`)
    expect(notes.body.map((note: { body: string }) => note.body)).toEqual([
      'approved this merge request',
      'unapproved this merge request',
    ])
  })

  test('that a rule asks for hold up the merge until they are given', async () => {
    const { at, project7 } = await stage()
    const rule = await ana.post(`${project7}/approval_rules`, {
      name: 'Security',
      approvals_required: 1,
      user_ids: [cleo.id, 999],
    })
    expect(rule.status).toBe(201)
    expect(rule.body).toMatchObject({
      name: 'Security',
      rule_type: 'regular',
      users: [{ username: 'cleo' }],
      eligible_approvers: [{ username: 'cleo' }],
      contains_hidden_groups: false,
    })
    expect((await ana.get(at)).body.detailed_merge_status).toBe('not_approved')
    expect((await ana.put(`${at}/merge`)).status).toBe(405)
    const half = await ben.post(`${at}/approve`)
    expect(half.body).toMatchObject({ approved: false, approvals_required: 1, approvals_left: 1 })
    expect(half.body.approval_rules_left).toEqual([
      { id: rule.body.id, name: 'Security', rule_type: 'regular' },
    ])
    const whole = await cleo.post(`${at}/approve`)
    expect(whole.body).toMatchObject({ approved: true, approvals_left: 0 })
    const state = await ana.get(`${at}/approval_state`)
    expect(state.body).toMatchObject({
      approval_rules_overwritten: false,
      rules: [{ approved: true, approved_by: [{ username: 'cleo' }] }],
    })
    expect((await ana.get(at)).body.detailed_merge_status).toBe('mergeable')
    expect((await ana.get(`${at}/approval_settings`)).status).toBe(200)
  })

  test('of a merge request may differ from the project, unless the project forbids', async () => {
    const { at, project7 } = await stage()
    const rule = await ana.post(`${project7}/approval_rules`, {
      name: 'All',
      rule_type: 'any_approver',
      approvals_required: 1,
    })
    const twice = await ana.post(`${project7}/approval_rules`, {
      name: 'Again',
      rule_type: 'any_approver',
      approvals_required: 1,
    })
    expect([twice.status, twice.body]).toEqual([
      400,
      { message: { rule_type: ['any-approver for the project already exists'] } },
    ])
    const lowered = await ana.put(`${at}/approval_rules/${rule.body.id}`, { approvals_required: 0 })
    expect(lowered.body).toMatchObject({ approvals_required: 0, overridden: true })
    expect((await ana.get(`${at}/approvals`)).body.approved).toBe(true)
    const own = await ana.post(`${at}/approval_rules`, {
      name: 'Own',
      approvals_required: 1,
      user_ids: [ben.id],
    })
    expect(own.status).toBe(201)
    const listed = await ana.get(`${at}/approval_rules`)
    expect(listed.body.map((one: { name: string }) => one.name)).toEqual(['All', 'Own'])
    expect((await ana.delete(`${at}/approval_rules/${own.body.id}`)).status).toBe(204)
    const forbid = { disable_overriding_approvers_per_merge_request: true }
    expect((await ana.post(`${project7}/approvals`, forbid)).status).toBe(201)
    expect((await ana.get(`${at}/approvals`)).body.approvals_required).toBe(1)
    expect(
      (await ana.post(`${at}/approval_rules`, { name: 'x', approvals_required: 0 })).status,
    ).toBe(422)
  })

  test('ask for the password again where the project wants it', async () => {
    const { at, project7 } = await stage()
    await ana.post(`${project7}/approvals`, { require_reauthentication_to_approve: true })
    await world.ctx.db
      .updateTable('users')
      .set({ password_hash: await hashPassword('right horse') })
      .where('id', '=', ben.id)
      .execute()
    expect((await ben.post(`${at}/approve`)).status).toBe(401)
    expect((await ben.post(`${at}/approve`, { approval_password: 'wrong' })).status).toBe(401)
    expect((await ben.post(`${at}/approve`, { approval_password: 'right horse' })).status).toBe(201)
  })

  test('go with a push of other changes, and stay when the change is the same', async () => {
    const bench = await stage()
    await ben.post(`${bench.at}/approve`)
    const iid = Number(bench.at.split('/').at(-1))
    const content = Buffer.from('b\n').toString('base64')
    const moved = await ana.post(`${bench.project7}/repository/files/src%2Fb.ts`, {
      branch: 'topic',
      commit_message: 'More',
      content,
      encoding: 'base64',
    })
    expect(moved.status).toBe(201)
    expect((await ana.get(bench.at)).body.sha).not.toBeNull()
    const { body } = await bench.read(iid)
    expect(body.detailed_merge_status).toBe('mergeable')
    expect((await ana.get(`${bench.at}/approvals`)).body.approved_by).toEqual([])
    const notes = await ana.get(`${bench.at}/notes`)
    expect(notes.body[0].body).toMatch(/^added 1 commit\n\n\* [0-9a-f]{8} - More/)
    expect((await ana.get(`${bench.at}/versions`)).body).toHaveLength(2)
    await ben.post(`${bench.at}/approve`)
    bench.commit('main', { 'other.txt': 'x\n' })
    expect((await ana.put(`${bench.at}/rebase`)).status).toBe(202)
    await bench.read(iid)
    expect((await ana.get(`${bench.at}/versions`)).body).toHaveLength(3)
    expect((await ana.get(`${bench.at}/approvals`)).body.approved_by).toHaveLength(1)
  })

  test('of code owners are asked for by the CODEOWNERS file of the target', async () => {
    const bench = await openBench(world, ana)
    await addMember(world, bench.project.id, ben.id, 30)
    await addMember(world, bench.project.id, cleo.id, 30)
    bench.commit('main', { CODEOWNERS: '[Code]\n*.ts @cleo\n^[Text]\n*.md @ben\n' })
    await world.ctx.db
      .insertInto('protected_branches')
      .values({
        project_id: bench.project.id,
        name: 'main',
        code_owner_approval_required: 1,
        created_at: world.ctx.now(),
        updated_at: world.ctx.now(),
      })
      .execute()
    bench.commit('topic', { 'src/a.ts': 'a\n', 'doc.md': 'd\n' })
    const { body } = await bench.open('topic')
    const at = `${bench.api}/${body.iid}`
    const { body: state } = await ana.get(`${at}/approval_state`)
    expect(state.rules).toMatchObject([
      { name: '*.ts', section: 'Code', rule_type: 'code_owner', approvals_required: 1 },
      { name: '*.md', section: 'Text', rule_type: 'code_owner', approvals_required: 0 },
    ])
    expect((await ana.get(`${at}/approvals`)).body.approved).toBe(false)
    await cleo.post(`${at}/approve`)
    expect((await ana.get(`${at}/approvals`)).body.approved).toBe(true)
    expect(
      (await ana.put(`${at}/approval_rules/${state.rules[0].id}`, { approvals_required: 0 })).body,
    ).toEqual({
      message: ['Prohibited'],
    })
  })
})

describe('approval settings', () => {
  test('of a project are read and changed by maintainers, under two names', async () => {
    const { project7 } = await stage()
    expect((await ben.get(`${project7}/approvals`)).body).toMatchObject({
      reset_approvals_on_push: true,
      merge_requests_author_approval: false,
      approvers: [],
    })
    expect(
      (await ben.post(`${project7}/approvals`, { reset_approvals_on_push: false })).status,
    ).toBe(403)
    expect((await ana.post(`${project7}/approvals`, {})).status).toBe(400)
    const both = { selective_code_owner_removals: true }
    expect((await ana.post(`${project7}/approvals`, both)).status).toBe(400)
    const changed = await ana.put(`${project7}/merge_request_approval_setting`, {
      allow_author_approval: true,
      retain_approvals_on_push: true,
    })
    expect(changed.body).toMatchObject({
      allow_author_approval: { value: true, locked: false, inherited_from: null },
      retain_approvals_on_push: { value: true },
    })
    expect((await ana.get(`${project7}/approvals`)).body).toMatchObject({
      reset_approvals_on_push: false,
      merge_requests_author_approval: true,
    })
    const count = await ana.post(`${project7}/approvals`, { approvals_before_merge: 2 })
    expect(count.body.approvals_before_merge).toBe(2)
  })
})
