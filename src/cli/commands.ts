import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { packagesImport } from './packages-import.ts'
import { packagesSizes, packagesVerify } from './packages-verify.ts'
import { projectImport } from './project-import.ts'
import { runner } from './runner.ts'
import { serve } from './serve.ts'
import { tokenCreate } from './token-create.ts'
import { userCreate } from './user-create.ts'
import { version } from './version.ts'

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  userCreate,
  tokenCreate,
  runner,
  projectImport,
  packagesImport,
  packagesVerify,
  packagesSizes,
  doctor,
  version,
]
