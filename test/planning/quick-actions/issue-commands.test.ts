import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Project } from '../../../src/access/subjects.ts'
import type { Ctx } from '../../../src/ctx.ts'
import type { CommandContext } from '../../../src/planning/quick-actions/command-context.ts'
import { quickActions } from '../../../src/planning/quick-actions/run.ts'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const guest = useCaller(world, 'guest')
let at: string
let one: string

beforeAll(async () => {
  const { id } = await createProject(ana, 'commands')
  at = `/projects/${id}`
  await addMember(world, id, ben.id, 30)
  await addMember(world, id, guest.id, 10)
  for (const name of ['bug', 'two words', 'p::1', 'p::2'])
    await ana.post(`${at}/labels`, { name, color: 'red' })
  await ana.post(`${at}/milestones`, { title: 'v1.0 final' })
  await ana.post(`${at}/milestones`, { title: 'v2' })
})
beforeEach(async () => {
  const { body } = await ana.post(`${at}/issues`, { title: 'Broken', description: 'It is.' })
  one = `${at}/issues/${body.iid}`
})

const say = (text: string, who = ana): Promise<Reply> => who.post(`${one}/notes`, { body: text })
const issue = async () => (await ana.get(one)).body
const comments = async () =>
  (await ana.get(`${one}/notes?activity_filter=only_comments`)).body.map(
    (note: { body: string }) => note.body,
  )

describe('a line', () => {
  test('is a command however it is written, with spaces or line ends of Windows behind it', async () => {
    for (const text of ['/CLOSE', '/Reopen  ', '/close\r\n', '\n\n/reopen\t\n']) {
      expect([text, (await say(text)).status]).toEqual([text, 202])
    }
    expect((await issue()).state).toBe('opened')
  })

  test('is text where no command begins it', async () => {
    for (const text of ['do /close it', ' /close', '//close', '/closing time', '> /close']) {
      expect([text, (await say(text)).status]).toEqual([text, 201])
    }
    expect((await issue()).state).toBe('opened')
    expect(await comments()).toHaveLength(5)
  })

  test('of a block of code or quotation is text', async () => {
    const text = '```\n/close\n```\n\n~~~\n/lock\n~~~\n\n>>>\n/title x\n>>>'
    expect((await say(text)).body.body).toBe(text)
    expect(await issue()).toMatchObject({ state: 'opened', title: 'Broken' })
  })

  test('goes from between the others, which keep their order', async () => {
    const reply = await say('first\n/label ~bug\nsecond\n\n/weight 2\nthird')
    expect(reply.body.body).toBe('first\nsecond\n\nthird')
    expect(reply.body.commands_changes).toMatchObject({ weight: 2 })
    expect((await ana.get(`${one}/notes/${reply.body.id}`)).body.body).toBe(
      'first\nsecond\n\nthird',
    )
  })

  test('of substitution becomes a sign', async () => {
    expect((await say('/shrug well')).body.body).toBe('well ¯\\＿(ツ)＿/¯')
    expect((await say('/tableflip')).body.body).toBe('(╯°□°)╯︵ ┻━┻')
    await ana.put(one, { description: 'So\n/shrug' })
    expect((await issue()).description).toBe('So\n¯\\＿(ツ)＿/¯')
    const { body } = await ana.post(`${at}/issues`, { title: 'x', description: '/shrug' })
    expect(body.description).toBe('¯\\＿(ツ)＿/¯')
  })
})

describe('labels', () => {
  test('are added by name, in quotes, several at once, and without the sign', async () => {
    await say('/label ~bug ~"two words"')
    expect((await issue()).labels).toEqual(['bug', 'two words'])
    await say('/labels p::1')
    expect((await issue()).labels).toEqual(['bug', 'p::1', 'two words'])
    await say('/label ~p::2')
    expect((await issue()).labels).toEqual(['bug', 'p::2', 'two words'])
  })

  test('are taken away one by one or all at once', async () => {
    await say('/label ~bug ~"two words" ~p::1')
    await say('/unlabel ~bug')
    expect((await issue()).labels).toEqual(['p::1', 'two words'])
    await say('/remove_label')
    expect((await issue()).labels).toEqual([])
    expect((await say('/unlabel ~bug')).status).toBe(400)
    expect((await say('/unlabel')).status).toBe(400)
  })

  test('that there are not are not made', async () => {
    expect((await say('/label ~unknown')).status).toBe(400)
    const listed = await ana.get(`${at}/labels?search=never`)
    expect(listed.body).toEqual([])
  })

  test('leave the same events as by the other way', async () => {
    await say('/label ~bug\n/milestone %v2\n/weight 4')
    const events = async (kind: string) => (await ana.get(`${one}/resource_${kind}_events`)).body
    expect(await events('label')).toMatchObject([{ action: 'add', label: { name: 'bug' } }])
    expect(await events('milestone')).toMatchObject([{ action: 'add', milestone: { title: 'v2' } }])
    expect(await events('weight')).toMatchObject([{ weight: 4 }])
  })
})

describe('plans', () => {
  test('take milestones by title, with and without sign and quotes', async () => {
    for (const [text, title] of [
      ['/milestone %v2', 'v2'],
      ['/milestone %"v1.0 final"', 'v1.0 final'],
      ['/milestone v2', 'v2'],
      ['/milestone v1.0 final', 'v1.0 final'],
    ]) {
      expect([text, (await say(text ?? '')).status]).toEqual([text, 202])
      expect([text, (await issue()).milestone.title]).toEqual([text, title])
    }
    expect((await say('/milestone %none')).status).toBe(400)
    expect((await say('/remove_milestone')).body.summary).toEqual([
      'Removed %v1.0 final milestone.',
    ])
    expect((await issue()).milestone).toBeNull()
  })

  test.each([
    ['2026-12-24', '2026-12-24'],
    ['today', '2026-05-04'],
    ['tomorrow', '2026-05-05'],
    ['in 2 days', '2026-05-06'],
    ['in 1 week', '2026-05-11'],
    ['next month', '2026-06-04'],
    ['friday', '2026-05-08'],
    ['December 31st', '2026-12-31'],
  ])('set the due date to %s', async (words, day) => {
    expect((await say(`/due ${words}`)).status).toBe(202)
    expect((await issue()).due_date).toBe(day)
  })

  test('refuse days and weights that are none', async () => {
    for (const text of ['/due soon', '/due', '/due 2026-02-30', '/weight -1', '/weight x']) {
      expect([text, (await say(text)).status]).toEqual([text, 400])
    }
    expect(await issue()).toMatchObject({ due_date: null, weight: null })
  })

  test('estimate and count time', async () => {
    await say('/estimate 1w 2d 3h')
    await say('/spend 1h 30m')
    await say('/spend 30m')
    expect((await issue()).time_stats).toEqual({
      time_estimate: (40 + 16 + 3) * 3600,
      total_time_spent: 7200,
      human_time_estimate: '1w 2d 3h',
      human_total_time_spent: '2h',
    })
    expect((await say('/spend -5h')).status).toBe(400)
    expect((await say('/estimate never')).status).toBe(400)
    expect((await issue()).time_stats.total_time_spent).toBe(7200)
  })
})

describe('many commands', () => {
  const activity = async () =>
    (await ana.get(`${one}/notes?activity_filter=only_activity&per_page=100`)).body.map(
      (note: { body: string }) => note.body,
    )

  test('are carried out up to fifty of one text, and the answer names the others', async () => {
    const { status, body } = await say('/spend 1h\n'.repeat(4000))
    expect(status).toBe(202)
    expect(body.summary[0]).toMatch(
      /3950 more commands were not carried out: a text may give 50\.$/,
    )
    expect(body.commands_changes.spend_time.duration).toBe(50 * 3600)
    expect((await issue()).time_stats.total_time_spent).toBe(50 * 3600)
  })

  test('of one kind are one change and one note', async () => {
    await say('/spend 1h\n/label ~bug\n/spend 30m\n/estimate 1d\n/estimate 2d')
    expect((await issue()).time_stats).toMatchObject({
      total_time_spent: 5400,
      time_estimate: 16 * 3600,
    })
    expect((await activity()).filter((text: string) => / time /.test(text)).sort()).toEqual([
      'added 1h 30m of time spent',
      'changed time estimate to 2d',
    ])
  })

  test('keep their order where another kind lies between them', async () => {
    await say('/spend 1h\n/remove_time_spent\n/spend 2h')
    expect((await issue()).time_stats.total_time_spent).toBe(7200)
  })

  test('in the description of a new issue are no more', async () => {
    const made = await ana.post(`${at}/issues`, {
      title: 'x',
      description: '/spend 1h\n'.repeat(60),
    })
    expect(made.body.time_stats.total_time_spent).toBe(50 * 3600)
  })

  test('end when whoever gave them is gone', async () => {
    const gone = new AbortController()
    const done: string[] = []
    const step = (_: Ctx, __: CommandContext, argument: string) => ({
      message: argument,
      act: async () => {
        done.push(argument)
        if (argument === '2') gone.abort()
      },
    })
    // What is done here asks for nothing of what commands are given for.
    const context = { edits: {} } as CommandContext
    const { take, run } = quickActions({ step }, async () => context)
    const { commands } = take('/step 1\n/step 2\n/step 3')
    const signal = { signal: gone.signal }
    await run(world.ctx, {} as Project, 1, commands, signal)
    expect(done).toEqual(['1', '2'])
  })
})

describe('people', () => {
  const names = async () =>
    (await issue()).assignees.map((user: { username: string }) => user.username).sort()

  test('are assigned by name, several and oneself, exchanged and taken off', async () => {
    await say('/assign @ben')
    expect(await names()).toEqual(['ben'])
    await say('/assign me and @guest')
    expect(await names()).toEqual(['ana', 'ben', 'guest'])
    await say('/reassign @BEN')
    expect(await names()).toEqual(['ben'])
    await say('/assign me')
    await say('/unassign @ben')
    expect(await names()).toEqual(['ana'])
    await say('/unassign')
    expect(await names()).toEqual([])
    expect((await say('/unassign')).status).toBe(400)
  })

  test('who have no part in the project are not assigned', async () => {
    await world.user('outsider')
    expect((await say('/assign @outsider @nobody')).status).toBe(400)
    expect(await names()).toEqual([])
  })

  test('who are assigned find a to-do', async () => {
    await ben.post('/todos/mark_as_done')
    await say('/assign @ben')
    expect((await ben.get('/todos')).body).toMatchObject([{ action_name: 'assigned' }])
  })
})

describe('several commands', () => {
  test('are named in one answer, without those that did nothing', async () => {
    const reply = await say('/close\n/label ~unknown\n/weight 3\n/reopen')
    expect(reply.status).toBe(202)
    expect(reply.body.summary[0]).toContain('Closed this issue.')
    expect(reply.body.summary[0]).toContain('Set weight to 3.')
    expect(reply.body.summary[0]).not.toContain('label')
    expect((await issue()).state).toBe('closed')
  })

  test('change nothing when what they want together is refused', async () => {
    const reply = await say(`/title ${'x'.repeat(256)}\n/weight 3`)
    expect(reply.status).toBe(400)
    expect(await issue()).toMatchObject({ title: 'Broken', weight: null })
  })

  test('of a guest do what a guest may', async () => {
    const mixed = await say('/award heart\n/todo\n/subscribe\n/weight 9\n/close', guest)
    expect(mixed.status).toBe(202)
    expect(await issue()).toMatchObject({ weight: null, state: 'opened' })
    expect((await guest.get(one)).body.subscribed).toBe(true)
    expect((await guest.get('/todos?action=marked')).body).toHaveLength(1)
    expect((await ana.get(`${one}/award_emoji`)).body).toMatchObject([{ name: 'heart' }])
  })

  test('beside a text come after it: what it did away with is there again', async () => {
    expect((await say('Later.\n/todo', ben)).status).toBe(201)
    expect((await ben.get('/todos?action=marked')).body).toHaveLength(1)
  })

  test('of an author close and hide what is theirs', async () => {
    const { body } = await guest.post(`${at}/issues`, { title: 'of a guest' })
    one = `${at}/issues/${body.iid}`
    expect((await say('/confidential\n/title mine\n/label ~bug', guest)).status).toBe(202)
    expect(await issue()).toMatchObject({ confidential: true, title: 'mine', labels: [] })
    expect((await say('/close', guest)).status).toBe(202)
    expect((await issue()).closed_by.username).toBe('guest')
  })
})

describe('other issues', () => {
  test('are related, blocked and blocking', async () => {
    const { body: a } = await ana.post(`${at}/issues`, { title: 'a' })
    const { body: b } = await ana.post(`${at}/issues`, { title: 'b' })
    expect((await say(`/relate #${a.iid}`)).status).toBe(202)
    expect((await say(`/blocks ana/commands#${b.iid}`)).status).toBe(202)
    const links = await ana.get(`${one}/links`)
    expect(
      links.body.map((link: { iid: number; link_type: string }) => [link.iid, link.link_type]),
    ).toEqual([
      [a.iid, 'relates_to'],
      [b.iid, 'blocks'],
    ])
    expect((await say('/relate #99999')).status).toBe(400)
    const self = one.split('/').at(-1)
    expect((await say(`/relate #${self}`)).status).toBe(400)
  })

  test('lend their labels and milestone', async () => {
    const { body: a } = await ana.post(`${at}/issues`, { title: 'a', labels: 'bug,p::1' })
    await ana.post(`${at}/issues/${a.iid}/notes`, { body: '/milestone v2' })
    expect((await say(`/copy_metadata #${a.iid}`)).status).toBe(202)
    const read = await issue()
    expect([read.labels, read.milestone.title]).toEqual([['bug', 'p::1'], 'v2'])
  })
})
