import { expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

async function locks(bench: Bench, who: Caller, rest: string, body: object) {
  const response = await fetch(`${world.url}/${bench.project.fullPath}.git/info/lfs/locks${rest}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/vnd.git-lfs+json',
      Authorization: `Basic ${Buffer.from(`${who.username}:${who.token}`).toString('base64')}`,
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as { lock: { id: string } } }
}

/** ana's merge request that changes `README.md` and renames `old.bin` to `new.bin`. */
async function stage(settings: Readonly<Record<string, unknown>> = {}) {
  const bench = await openBench(world, ana, settings)
  await addMember(world, bench.project.id, ben.id, 30)
  bench.commit('main', { 'old.bin': 'old\n'.repeat(20) })
  bench.commit('topic', {
    'README.md': 'changed\n',
    'old.bin': null,
    'new.bin': 'old\n'.repeat(20),
  })
  await bench.open('topic')
  const status = async () => (await bench.read(1)).body.detailed_merge_status
  return { bench, status }
}

test('a file that somebody else has locked holds up the merge until it is unlocked', async () => {
  const { bench, status } = await stage()
  expect(await status()).toBe('mergeable')
  const made = await locks(bench, ben, '', { path: 'README.md' })
  expect(made.status).toBe(201)
  expect(await status()).toBe('locked_lfs_files')
  const [listed] = (await ana.get(bench.api)).body
  expect(listed.detailed_merge_status).toBe('locked_lfs_files')
  expect((await ana.put(`${bench.api}/1/merge`)).status).toBe(405)
  expect((await locks(bench, ben, `/${made.body.lock.id}/unlock`, {})).status).toBe(200)
  expect(await status()).toBe('mergeable')
  expect((await ana.put(`${bench.api}/1/merge`)).body.state).toBe('merged')
})

test.each(['old.bin', 'new.bin'])('%s, a name of a renamed file, is one of them', async (path) => {
  const { bench, status } = await stage()
  await locks(bench, ben, '', { path })
  expect(await status()).toBe('locked_lfs_files')
})

test('locks of the author, of other files and of later changes stand in nobody’s way', async () => {
  const { bench, status } = await stage()
  await locks(bench, ana, '', { path: 'README.md' })
  await locks(bench, ben, '', { path: 'late.bin' })
  expect(await status()).toBe('mergeable')
  bench.commit('other', { 'late.bin': 'late\n' })
  const { body } = await bench.open('other')
  expect(body.detailed_merge_status).toBe('locked_lfs_files')
  expect(await status()).toBe('mergeable')
})

test('a project without large files has no locks', async () => {
  const { bench, status } = await stage()
  await locks(bench, ben, '', { path: 'README.md' })
  expect(await status()).toBe('locked_lfs_files')
  await ana.put(`/projects/${bench.project.id}`, { lfs_enabled: false })
  expect(await status()).toBe('mergeable')
})
