import { describe, expect, test } from 'vitest'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const guest = useCaller(world, 'guest')

async function stage(settings: Readonly<Record<string, unknown>> = {}) {
  const bench = await openBench(world, ana, settings)
  await addMember(world, bench.project.id, ben.id, 30)
  await addMember(world, bench.project.id, guest.id, 20)
  bench.commit('topic', { 'README.md': 'one\n2\n3\n4\n', 'other.txt': 'x\ny\n' })
  const { body } = await bench.open('topic')
  const at = `${bench.api}/1`
  const suggest = async (line: number, block: string, path = 'README.md', caller = ben) => {
    const position = { ...body.diff_refs, position_type: 'text', new_path: path, new_line: line }
    const reply = await caller.post(`${at}/discussions`, { body: `Rather\n${block}`, position })
    return reply.body.notes[0]
  }
  const read = (path: string, branch = 'topic') =>
    `${git(bench.project.path, ['show', `${branch}:${path}`])}\n`
  return { bench, at, suggest, read }
}

const block = (content: string, lines = '') => `\`\`\`suggestion${lines}\n${content}\n\`\`\``

describe('a suggestion', () => {
  test('is taken over as a commit of its author, by whoever applies it', async () => {
    const { bench, at, suggest, read } = await stage()
    const note = await suggest(2, block('two', ':-0+1'))
    const [suggestion] = note.suggestions
    expect(suggestion).toMatchObject({
      from_line: 2,
      to_line: 3,
      appliable: true,
      applied: false,
      from_content: '2\n3\n',
      to_content: 'two\n',
    })
    const done = await ana.put(`/suggestions/${suggestion.id}/apply`)
    expect([done.status, done.body.applied, done.body.appliable]).toEqual([200, true, false])
    expect(read('README.md')).toBe('one\ntwo\n4\n')
    const shown = git(bench.project.path, ['log', '-1', '--format=%an|%cn|%s|%b', 'topic'])
    expect(shown).toBe(
      'ben|ana|Apply 1 suggestion(s) to 1 file(s)|Co-authored-by: ben <ben@example.com>\n',
    )
    const thread = await ana.get(`${at}/notes/${note.id}`)
    expect(thread.body).toMatchObject({ resolved: true })
    const again = await ana.put(`/suggestions/${suggestion.id}/apply`)
    expect([again.status, again.body.message]).toEqual([400, "Can't apply this suggestion."])
  })

  test('is taken over once, however often it is asked at once', async () => {
    const { suggest, read } = await stage()
    const { suggestions } = await suggest(2, block('2\nmore'))
    const replies = await Promise.all(
      [1, 2, 3].map(() => ana.put(`/suggestions/${suggestions[0].id}/apply`)),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400])
    expect(read('README.md')).toBe('one\n2\nmore\n3\n4\n')
  })

  test('leaves every other byte of its file as it is, be it no UTF-8', async () => {
    const { bench } = await stage()
    const files = `/projects/${bench.project.id}/repository/files/latin.txt`
    const bytes = (words: string) => Buffer.from(words, 'latin1').toString('base64')
    await ana.post(files, {
      branch: 'topic',
      commit_message: 'x',
      encoding: 'base64',
      content: bytes('gr\xfcn\n2\nd\xfcnn\n'),
    })
    const { body } = await bench.read(1)
    const position = { ...body.diff_refs, position_type: 'text', new_path: 'latin.txt' }
    const at = { position: { ...position, new_line: 3 }, body: block('d\u00fcnn') }
    const { notes } = (await ben.post(`${bench.api}/1/discussions`, at)).body
    expect((await ana.put(`/suggestions/${notes[0].suggestions[0].id}/apply`)).status).toBe(200)
    const now = (await ana.get(`${files}?ref=topic`)).body.content
    expect(now).toBe(bytes('gr\xfcn\n2\nd\xc3\xbcnn\n'))
  })

  test('follows its line through later pushes, and is refused when the line changed', async () => {
    const { bench, at, suggest, read } = await stage()
    const moved = await suggest(4, block('four'))
    const lost = await suggest(2, block('two'))
    bench.commit('topic', { 'README.md': 'zero\none\nzwei\n3\n4\n' })
    const head = git(bench.project.path, ['rev-parse', 'topic'])
    await world.ctx.db
      .updateTable('merge_requests')
      .set({ head_sha: head, merge_status: 'unchecked' })
      .where('target_project_id', '=', bench.project.id)
      .execute()
    const stale = await ana.put(`/suggestions/${moved.suggestions[0].id}/apply`)
    expect(stale.body.message).toContain('changed in a more recent version')
    const { body: made } = await ana.post(`/projects/${bench.project.id}/repository/commits`, {
      branch: 'topic',
      commit_message: 'More',
      actions: [{ action: 'create', file_path: 'more', content: 'm' }],
    })
    expect(made.id).toMatch(/^[0-9a-f]{40}$/)
    await bench.read(1)
    const notes = async (id: number) => (await ana.get(`${at}/notes/${id}`)).body.suggestions[0]
    expect(await notes(moved.id)).toMatchObject({ from_line: 5, appliable: true })
    expect(await notes(lost.id)).toMatchObject({ appliable: false })
    expect((await ana.put(`/suggestions/${moved.suggestions[0].id}/apply`)).status).toBe(200)
    expect(read('README.md')).toBe('zero\none\nzwei\n3\nfour\n')
    const refused = await ana.put(`/suggestions/${lost.suggestions[0].id}/apply`)
    expect([refused.status, refused.body.message]).toEqual([
      400,
      "Can't apply as this line was changed in a more recent version.",
    ])
  })

  test('takes the right to push to the source branch, and is hidden from strangers', async () => {
    const { bench, suggest } = await stage()
    const { suggestions } = await suggest(2, block('two'))
    const path = `/suggestions/${suggestions[0].id}/apply`
    expect((await guest.put(path)).status).toBe(403)
    expect((await (await world.user('stranger')).put(path)).status).toBe(404)
    expect((await world.nobody.put(path)).status).toBe(401)
    await ana.put(`${bench.api}/1`, { state_event: 'close' })
    const closed = await ana.put(path)
    expect([closed.status, closed.body.message]).toEqual([
      400,
      'This merge request is closed. To apply this suggestion, edit this file directly.',
    ])
    expect((await ana.put('/suggestions/999999/apply')).body.message).toBe(
      '404 Suggestion Not Found',
    )
  })

  test('may stand in a reply and changes with its comment', async () => {
    const { at, suggest } = await stage()
    const note = await suggest(2, 'nothing yet')
    expect(note.suggestions).toEqual([])
    const { body: threads } = await ana.get(`${at}/discussions`)
    const thread = threads.find((one: { individual_note: boolean }) => !one.individual_note)
    const reply = await ana.post(`${at}/discussions/${thread.id}/notes`, { body: block('zwei') })
    expect(reply.body.suggestions[0].to_content).toBe('zwei\n')
    const changed = await ana.put(`${at}/notes/${reply.body.id}`, { body: block('deux') })
    expect(changed.body.suggestions.map((one: { to_content: string }) => one.to_content)).toEqual([
      'deux\n',
    ])
    const refs = note.position
    const draft = { note: block('dos'), position: refs }
    await ben.post(`${at}/draft_notes`, draft)
    await ben.post(`${at}/draft_notes/bulk_publish`)
    const { body: notes } = await ana.get(`${at}/notes?activity_filter=only_comments`)
    expect(notes[0].suggestions[0].to_content).toBe('dos\n')
  })
})

describe('several suggestions', () => {
  test('become one commit, with the message of the project and everybody who wrote one', async () => {
    const { bench, suggest, read } = await stage({
      suggestion_commit_message: '%{suggestions_count} for %{file_paths}\n\n%{co_authored_by}',
    })
    const first = await suggest(2, block('two'))
    const second = await suggest(4, block('four'))
    const third = await suggest(1, block('X'), 'other.txt', ana)
    const ids = [first, second, third].map((note) => note.suggestions[0].id)
    const done = await ana.put('/suggestions/batch_apply', { ids })
    expect([done.status, done.body.length]).toEqual([200, 3])
    expect(read('README.md')).toBe('one\ntwo\n3\nfour\n')
    expect(read('other.txt')).toBe('X\ny\n')
    const log = git(bench.project.path, ['log', '-1', '--format=%an|%s|%b', 'topic'])
    expect(log).toContain('ana|3 for README.md, other.txt|Co-authored-by: ben')
    expect(git(bench.project.path, ['rev-list', '--count', 'main..topic'])).toBe('2')
  })

  test('do not overlap, and each must fit', async () => {
    const { suggest, read } = await stage()
    const wide = await suggest(2, block('two and three', ':-0+1'))
    const narrow = await suggest(3, block('three'))
    const ids = [wide.suggestions[0].id, narrow.suggestions[0].id]
    const refused = await ana.put('/suggestions/batch_apply', { ids })
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'Suggestions are not applicable as their lines cannot overlap.',
    ])
    expect(read('README.md')).toBe('one\n2\n3\n4\n')
    const message = { ids: [ids[1]], commit_message: 'By %{username}' }
    expect((await ana.put('/suggestions/batch_apply', message)).status).toBe(200)
  })
})
