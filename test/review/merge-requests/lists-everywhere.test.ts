import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')
/** Private; ana owns it, ben is a Developer. */
let closed: Bench
/** Public; ana owns it. */
let open: Bench

async function request(bench: Bench, branch: string, more: object = {}, who = ana) {
  bench.commit(branch, { [`${branch}.txt`]: `${branch}\n` })
  const made = await who.post(bench.api, {
    source_branch: branch,
    target_branch: 'main',
    title: branch,
    ...more,
  })
  expect(made.status).toBe(201)
  return made.body
}

beforeAll(async () => {
  closed = await openBench(world, ana)
  open = await openBench(world, ana)
  for (const bench of [closed, open]) await addMember(world, bench.project.id, ben.id, 30)
  await ana.put(`/projects/${open.project.id}`, { visibility: 'public' })
  await request(closed, 'secret', {
    assignee_ids: [ben.id],
    reviewer_ids: [ana.id],
  })
  await request(closed, 'by-ben', { labels: 'red,blue' }, ben)
  await request(open, 'public', {
    assignee_ids: [ana.id, ben.id],
    labels: 'red',
  })
  await request(open, 'asked', {
    reviewer_ids: [ben.id],
    description: 'NEEDLE in hay',
  })
  await world.runTasks()
})

async function titles(query: string, who = ana, path = '/merge_requests'): Promise<string[]> {
  const { status, body } = await who.get(`${path}?sort=asc&${query}`)
  expect([query, status]).toEqual([query, 200])
  return body.map((one: { title: string }) => one.title)
}

describe('the list of all merge requests', () => {
  test('has those that the caller created, unless the query says otherwise', async () => {
    expect(await titles('')).toEqual(['secret', 'public', 'asked'])
    expect(await titles('', ben)).toEqual(['by-ben'])
    expect(await titles('', cleo)).toEqual([])
    expect(await titles('scope=assigned_to_me', ben)).toEqual(['secret', 'public'])
    expect(await titles('scope=assigned_to_me', ana)).toEqual(['public'])
    expect(await titles('scope=reviews_for_me', ben)).toEqual(['asked'])
    expect(await titles('scope=reviews_for_me', ana)).toEqual(['secret'])
  })

  test('shows to each only what they may see', async () => {
    const everything = ['secret', 'by-ben', 'public', 'asked']
    expect(await titles('scope=all', ana)).toEqual(everything)
    expect(await titles('scope=all', ben)).toEqual(everything)
    expect(await titles('scope=all', world.root)).toEqual(everything)
    expect(await titles('scope=all', cleo)).toEqual(['public', 'asked'])
    expect(await titles('scope=all', world.nobody)).toEqual(['public', 'asked'])
    expect(await titles(`author_id=${ben.id}`, cleo)).toEqual([])
    expect((await world.nobody.get('/merge_requests?scope=assigned_to_me')).status).toBe(401)
  })

  test('loses what a caller may see no more', async () => {
    const dora = await world.user('dora')
    await addMember(world, closed.project.id, dora.id, 20)
    expect(await titles('scope=all', dora)).toHaveLength(4)
    await ana.delete(`/projects/${closed.project.id}/members/${dora.id}`)
    expect(await titles('scope=all', dora)).toEqual(['public', 'asked'])
  })
})

describe('filters', () => {
  test('take all that they name together', async () => {
    const expected: [string, string[]][] = [
      [`author_id=${ana.id}&labels=red`, ['public']],
      ['scope=all&labels=red', ['by-ben', 'public']],
      ['scope=all&labels=red,blue', ['by-ben']],
      ['scope=all&labels[]=red&labels[]=blue', ['by-ben']],
      ['scope=all&not[labels]=blue', ['secret', 'public', 'asked']],
      ['scope=all&not[labels]=red,blue', ['secret', 'asked']],
      ['scope=all&labels=RED', []],
      [`scope=all&assignee_id=${ben.id}`, ['secret', 'public']],
      ['scope=all&assignee_id=None', ['by-ben', 'asked']],
      ['scope=all&assignee_id=any', ['secret', 'public']],
      ['scope=all&assignee_username=ana', ['public']],
      ['scope=all&assignee_username[]=ana&assignee_username[]=ben', ['public']],
      [`scope=all&not[assignee_id]=${ana.id}`, ['secret', 'by-ben', 'asked']],
      [`scope=all&reviewer_id=${ben.id}`, ['asked']],
      ['scope=all&reviewer_id=None', ['by-ben', 'public']],
      ['scope=all&not[reviewer_username]=ben', ['secret', 'by-ben', 'public']],
      ['scope=all&author_username=ben', ['by-ben']],
      ['author_username=ben', ['by-ben']],
      [`scope=all&not[author_id]=${ben.id}`, ['secret', 'public', 'asked']],
      ['scope=all&search=needle', ['asked']],
      ['scope=all&search=hay+needle', ['asked']],
      ['scope=all&search=needle&in=description', ['asked']],
      ['scope=all&search=needle&in=title', []],
      ['scope=all&search=needle&in=title,description', ['asked']],
      ['scope=all&search=%25', []],
      ['scope=all&source_branch=secret', ['secret']],
      [`scope=all&source_project_id=${open.project.id}`, ['public', 'asked']],
      ['scope=all&iids[]=1', ['secret', 'public']],
      ['scope=all&iids=1,2', ['secret', 'by-ben', 'public', 'asked']],
      ['scope=all&state=closed', []],
      ['scope=all&author_id=123456', []],
      ['scope=all&milestone=No such', []],
    ]
    for (const [query, wanted] of expected) {
      expect([query, await titles(query)]).toEqual([query, wanted])
    }
  })

  test('narrow the list of a project in the same way', async () => {
    expect(await titles('labels=red', ana, open.api)).toEqual(['public'])
    expect(await titles('scope=created_by_me', ben, closed.api)).toEqual(['by-ben'])
    expect(await titles(`source_project_id=${open.project.id}`, ana, closed.api)).toEqual([])
  })

  test('by those whom the rules name know the rules of project and merge request', async () => {
    const bench = await openBench(world, ana)
    await addMember(world, bench.project.id, ben.id, 30)
    await addMember(world, bench.project.id, cleo.id, 30)
    await request(bench, 'general')
    await request(bench, 'own')
    const at = `/projects/${bench.project.id}`
    const rule = { name: 'Ben', approvals_required: 1, user_ids: [ben.id] }
    const found = (query: string) => titles(query, ana, bench.api)
    expect(await found('approver_ids=None')).toEqual(['general', 'own'])
    await ana.post(`${at}/approval_rules`, rule)
    expect(await found(`approver_ids[]=${ben.id}`)).toEqual(['general', 'own'])
    const [mine] = (await ana.get(`${bench.api}/2/approval_rules`)).body
    await ana.put(`${bench.api}/2/approval_rules/${mine.id}`, {
      user_ids: [cleo.id],
    })
    expect(await found(`approver_ids[]=${ben.id}`)).toEqual(['general'])
    expect(await found(`approver_ids[]=${cleo.id}`)).toEqual(['own'])
    expect(await found('approver_ids=Any')).toEqual(['general', 'own'])
    expect(await found('approver_ids=None')).toEqual([])
  })

  test('by approvals want everybody who is named', async () => {
    const bench = await openBench(world, ana)
    for (const user of [ben, cleo]) await addMember(world, bench.project.id, user.id, 30)
    for (const branch of ['both', 'ben', 'none']) await request(bench, branch)
    await ben.post(`${bench.api}/1/approve`)
    await cleo.post(`${bench.api}/1/approve`)
    await ben.post(`${bench.api}/2/approve`)
    const found = (query: string) => titles(query, ana, bench.api)
    expect(await found(`approved_by_ids[]=${ben.id}`)).toEqual(['both', 'ben'])
    expect(await found(`approved_by_ids=${ben.id},${cleo.id}`)).toEqual(['both'])
    expect(await found('approved_by_usernames=ben,cleo')).toEqual(['both'])
    expect(await found('approved_by_ids=Any')).toEqual(['both', 'ben'])
    expect(await found('approved=no')).toEqual(['none'])
    await ben.post(`${bench.api}/2/unapprove`)
    expect(await found('approved=yes')).toEqual(['both'])
  })
})

describe('what is listed', () => {
  test('is what a single read says, without what takes longer to know', async () => {
    const [listed] = (await ana.get(`${open.api}?iids[]=2`)).body
    const { body: single } = await ana.get(`${open.api}/2`)
    expect(listed).not.toHaveProperty('diff_refs')
    expect(listed).not.toHaveProperty('changes_count')
    const { merge_status: _, detailed_merge_status: __, prepared_at: ___, ...same } = listed
    expect(single).toMatchObject(same)
  })

  test('has its texts as HTML where that is asked for', async () => {
    const [plain] = (await ana.get(`${open.api}?iids[]=2`)).body
    expect(plain).not.toHaveProperty('title_html')
    const [html] = (await ana.get(`${open.api}?iids[]=2&render_html=true`)).body
    expect(html).toMatchObject({ title_html: 'asked' })
    expect(html.description_html).toContain('<p')
  })

  test('has its mergeability checked where that is asked for', async () => {
    const bench = await openBench(world, ana)
    bench.commit('fresh', { 'fresh.txt': 'f\n' })
    expect((await bench.open('fresh')).body.merge_status).toBe('can_be_merged')
    // Whatever happens to the target asks for another check.
    const file = { branch: 'main', commit_message: 'x', content: 'x' }
    await ana.post(`/projects/${bench.project.id}/repository/files/x.txt`, file)
    await world.runTasks()
    const status = async (query = '') =>
      (await ana.get(`${bench.api}?${query}`)).body[0].merge_status
    expect(await status()).toBe('unchecked')
    await world.runTasks()
    expect(await status()).toBe('unchecked')
    expect(await status('with_merge_status_recheck=true')).toBe('checking')
    await world.runTasks()
    expect(await status()).toBe('can_be_merged')
  })
})
