import { workerTask } from '../../base/workers/worker-task.ts'
import { type OwnedFiles, ownedBy, parseCodeOwners } from './code-owners.ts'

/** A file of code owners, and the paths that changed. */
export interface OwnersWork {
  readonly text: string
  readonly paths: readonly string[]
}

/** Every line of the file is compared with every path, which may take long. */
export const ownedFiles = workerTask(({ text, paths }: OwnersWork): OwnedFiles[] =>
  ownedBy(parseCodeOwners(text), paths),
)
