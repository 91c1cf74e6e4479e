import { execFileSync } from 'node:child_process'
import { launcher } from '../../src/base/launcher/launcher.ts'

// Starts a launcher, says its number and where it listens, and stays.
const path = await launcher.whenReady()
const found = execFileSync('pgrep', ['-f', `launcher-process.* ${path}$`]).toString()
process.stdout.write(`${Number(found)} ${path}\n`)
setInterval(() => {}, 60_000)
