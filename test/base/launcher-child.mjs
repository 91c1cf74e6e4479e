// @ts-check
import { execFileSync } from 'node:child_process'
import { loadCompiled } from '../../scripts/setup/load.mjs'
import { root } from '../../scripts/setup.mjs'

/** @type {typeof import('../../src/base/launcher/launcher.ts')} */
const { launcher } = loadCompiled(root, 'base/launcher/launcher.js')

// Starts a launcher, says its number and where it listens, and stays.
const path = await launcher.whenReady()
const found = execFileSync('pgrep', ['-f', `launcher-process.* ${path}$`]).toString()
process.stdout.write(`${Number(found)} ${path}\n`)
setInterval(() => {}, 60_000)
