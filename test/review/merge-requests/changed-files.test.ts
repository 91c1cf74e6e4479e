import { describe, expect, test } from 'vitest'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

async function stage() {
  const bench: Bench = await openBench(world, ana)
  await addMember(world, bench.project.id, ben.id, 30)
  bench.commit('main', {
    CODEOWNERS: '[docs]\n/docs/ @ben\n',
    'old name.txt': 'a\nb\nc\nd\ne\nf\n',
    'gone.txt': 'x\n',
    'space.txt': 'a\nb\n',
  })
  bench.commit('topic', {
    'README.md': 'one\n2\nthree\nfour\n',
    'docs/a [b].md': 'new\n',
    'space.txt': 'a\n  b\n',
    'yarn.lock': 'lock\n',
    'binary.bin': 'a\0b',
    'gone.txt': null,
    'old name.txt': null,
    'new name.txt': 'a\nb\nc\nd\ne\nf\ng\n',
  })
  await bench.open('topic')
  const one = `${bench.api}/1`
  return { bench, one, files: `${one}/changed_files`, viewed: `${one}/viewed_files` }
}

type File = Readonly<Record<string, unknown>>
const byPath = (body: readonly File[]) => new Map(body.map((file) => [file.new_path, file]))

describe('the changed files of a merge request', () => {
  test('are listed with their numbers of lines, owners and marks', async () => {
    const { files } = await stage()
    const { status, body } = await ana.get(files)
    expect(status).toBe(200)
    const found = byPath(body)
    expect(found.get('README.md')).toEqual({
      old_path: 'README.md',
      new_path: 'README.md',
      new_file: false,
      renamed_file: false,
      deleted_file: false,
      diff_suppressed: false,
      generated_file: false,
      additions: 2,
      deletions: 1,
      code_owners: [],
      viewed: 'no',
      viewed_version_id: null,
    })
    expect(found.get('docs/a [b].md')).toMatchObject({ new_file: true, code_owners: ['@ben'] })
    expect(found.get('yarn.lock')).toMatchObject({ generated_file: true, code_owners: [] })
    expect(found.get('binary.bin')).toMatchObject({ additions: null, deletions: null })
    expect(found.get('gone.txt')).toMatchObject({ deleted_file: true, deletions: 1 })
    expect(found.get('new name.txt')).toMatchObject({
      old_path: 'old name.txt',
      renamed_file: true,
      additions: 1,
      deletions: 0,
    })
  })

  test('are read one by one, renames by both names, and without changes of white space', async () => {
    const { files } = await stage()
    const read = async (paths: readonly string[], more = '') => {
      const query = paths.map((path) => `paths[]=${encodeURIComponent(path)}`).join('&')
      return (await ana.get(`${files}/diff?${query}${more}`)).body
    }
    const [special, ...others] = await read(['docs/a [b].md'])
    expect([special.new_path, special.diff, others]).toEqual([
      'docs/a [b].md',
      '@@ -0,0 +1 @@\n+new\n',
      [],
    ])
    const [renamed] = await read(['old name.txt', 'new name.txt'])
    expect(renamed).toMatchObject({ renamed_file: true, old_path: 'old name.txt' })
    expect(renamed.diff).toContain('+g\n')
    expect((await read(['space.txt']))[0].diff).toContain('+  b\n')
    expect(await read(['space.txt'], '&ignore_whitespace=true')).toMatchObject([
      { new_path: 'space.txt', diff: '' },
    ])
    expect(await read(['none.txt'])).toEqual([])
    // A path that no file can have changes nothing, and leaves the others as they are.
    expect(await read(['../../etc/passwd', '/', 'a//b'])).toEqual([])
    expect(await read(['../x', 'space.txt'])).toHaveLength(1)
    expect((await ana.get(`${files}/diff`)).status).toBe(400)
  })

  test('are marked as viewed by each person, until they change', async () => {
    const { bench, one, files, viewed } = await stage()
    const marked = await ana.put(viewed, { path: 'README.md' })
    expect([marked.status, marked.body.path]).toEqual([200, 'README.md'])
    await ana.put(viewed, { path: 'yarn.lock' })
    expect((await ana.put(viewed, { path: 'none.txt' })).status).toBe(404)
    expect((await ana.get(viewed)).body).toHaveLength(2)
    expect((await ben.get(viewed)).body).toEqual([])
    expect(byPath((await ana.get(files)).body).get('README.md')).toMatchObject({ viewed: 'yes' })
    bench.commit('topic', { 'README.md': 'one\n2\nthree\n4\n' })
    await world.ctx.db
      .updateTable('merge_requests')
      .set({ head_sha: git(bench.project.path, ['rev-parse', 'topic']) })
      .where('target_project_id', '=', bench.project.id)
      .execute()
    const now = byPath((await ana.get(files)).body)
    const first = marked.body.version_id
    expect(now.get('README.md')).toMatchObject({ viewed: 'changed', viewed_version_id: first })
    expect(now.get('yarn.lock')).toMatchObject({ viewed: 'yes' })
    const since = await ana.get(`${files}/diff?paths[]=README.md&since_version_id=${first}`)
    expect(since.body[0].diff).toContain('-four\n+4\n')
    const [newest] = (await ana.get(`${one}/versions`)).body
    const range = await ana.get(
      `${one}/range_diff?from_version_id=${first}&to_version_id=${newest.id}`,
    )
    expect(range.body.range_diff).toMatch(/^1: {2}[0-9a-f]+ = 1: /)
    expect((await ana.delete(`${viewed}?path=README.md`)).status).toBe(204)
    expect((await ana.delete(`${viewed}?path=README.md`)).status).toBe(404)
  })
})
