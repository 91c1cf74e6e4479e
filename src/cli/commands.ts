import { backupCreate } from './backup-create.ts'
import { backupList, backupVerify } from './backup-list.ts'
import { backupRestore } from './backup-restore.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { mailTest } from './mail-test.ts'
import { packagesImport } from './packages-import.ts'
import { packagesSizes, packagesVerify } from './packages-verify.ts'
import { projectImport } from './project-import.ts'
import { runner } from './runner.ts'
import { serve } from './serve.ts'
import { serviceInstall } from './service-install.ts'
import { sshKeys, sshServe } from './ssh-keys.ts'
import { tokenCreate } from './token-create.ts'
import { userCreate } from './user-create.ts'
import { userDisableTwoFactor } from './user-disable-two-factor.ts'
import { userResetPassword } from './user-reset-password.ts'
import { version } from './version.ts'

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  serviceInstall,
  userCreate,
  userResetPassword,
  userDisableTwoFactor,
  tokenCreate,
  runner,
  projectImport,
  packagesImport,
  packagesVerify,
  packagesSizes,
  backupCreate,
  backupList,
  backupVerify,
  backupRestore,
  mailTest,
  sshKeys,
  sshServe,
  doctor,
  version,
]
