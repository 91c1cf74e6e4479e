import { GitError } from '../../../src/git/error.ts'
import { resolveRevision } from '../../../src/git/objects/revision.ts'
import { updateRefs } from '../../../src/git/refs/update-refs.ts'
import { openGit } from '../../../src/git/store.ts'
import { writeCommit } from '../../../src/git/write/write-commit.ts'

/* Started several times at once by update-refs.test.ts: each adds its own files to one branch. */

const [folder = '', id = '', ref = '', who = '', rounds = ''] = process.argv.slice(2)
const store = openGit({ dataDir: folder, engineProcesses: 0 })
const repo = store.open(Number(id))
const person = { name: who, email: `${who}@x.test`, date: '2021-09-20T08:00:00.000Z' }

async function addFile(name: string): Promise<void> {
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
