// @ts-check
import { loadCompiled } from '../../../scripts/setup/load.mjs'
import { root } from '../../../scripts/setup.mjs'

/** @type {typeof import('../../../src/git/error.ts')} */
const { GitError } = loadCompiled(root, 'git/error.js')
/** @type {typeof import('../../../src/git/objects/revision.ts')} */
const { resolveRevision } = loadCompiled(root, 'git/objects/revision.js')
/** @type {typeof import('../../../src/git/refs/update-refs.ts')} */
const { updateRefs } = loadCompiled(root, 'git/refs/update-refs.js')
/** @type {typeof import('../../../src/git/store.ts')} */
const { openGit } = loadCompiled(root, 'git/store.js')
/** @type {typeof import('../../../src/git/write/write-commit.ts')} */
const { writeCommit } = loadCompiled(root, 'git/write/write-commit.js')

/* Started several times at once by update-refs.test.ts: each adds its own files to one branch. */

const [folder = '', id = '', ref = '', who = '', rounds = ''] = process.argv.slice(2)
const store = openGit({ dataDir: folder, engineProcesses: 0 })
const repo = store.open(Number(id))
const person = { name: who, email: `${who}@x.test`, date: '2021-09-20T08:00:00.000Z' }

/** @param {string} name */
async function addFile(name) {
  for (;;) {
    const { commitId } = await resolveRevision(repo, ref)
    const { id: newId } = await writeCommit(repo, {
      parentIds: [commitId],
      actions: [{ kind: 'create', path: name, content: Buffer.from(name) }],
      author: person,
      committer: person,
      message: name,
    })
    try {
      await updateRefs(repo, [{ name: ref, oldId: commitId, newId }])
      return
    } catch (error) {
      if (!(error instanceof GitError) || !['stale', 'locked'].includes(error.code)) throw error
    }
  }
}

for (let i = 0; i < Number(rounds); i += 1) await addFile(`${who}-${i}`)
await store.close()
