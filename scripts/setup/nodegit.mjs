// @ts-check
// How nodegit is compiled in a third of the time that its own build file takes.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Wrappers that are compiled as one file: few enough to keep many cores busy. */
const TOGETHER = 8

/**
 * nodegit's own files only hand values on to libgit2, and spend nearly all of their compile time on reading the same headers,
 * on making the same templates and on optimising. So the headers are compiled once, the wrappers of libgit2's types several
 * in one file, and all of them without optimisation; libgit2 is compiled as it asks for.
 *
 * @param {string} folder nodegit's, as npm unpacked it
 * @param {string} build where node-gyp has written what make is to do
 */
export function compileTogether(folder, build) {
  readOnce(join(folder, 'src', SHARED))
  const target = join(build, 'nodegit.target.mk')
  const made = readFileSync(target, 'utf8')
  const wrappers = [...made.matchAll(OBJECT)]
    .map(([, name]) => String(name))
    .filter((name) => readFileSync(join(folder, 'src', `${name}.cc`), 'utf8').includes(SHARED))
  const groups = []
  for (let at = 0; at < wrappers.length; at += TOGETHER) {
    const group = `wrappers-${at / TOGETHER}`
    const names = wrappers.slice(at, at + TOGETHER)
    const lines = names.map((name) => `#include "../src/${name}.cc"\n`)
    writeFileSync(join(build, `${group}.cc`), lines.join(''))
    groups.push(group)
  }
  const grouped = new Set(wrappers)
  const others = made.replace(OBJECT, (line, name) => (grouped.has(name) ? '' : line))
  const objects = groups.map((name) => `\t$(obj).target/$(TARGET)/build/${name}.o \\\n`)
  writeFileSync(join(build, 'headers.hpp'), HEADERS)
  // An empty line ends the list, so that any line of it may go.
  writeFileSync(target, others.replace('OBJS := \\\n', `OBJS := \\\n${objects.join('')}`) + RULES)
}

/** The lines that name nodegit's own files. */
const OBJECT = /^\t\$\(obj\)\.target\/\$\(TARGET\)\/src\/(\w+)\.o(?: \\)?\n/gm

/** What each wrapper of a type includes, without a guard against a second time. */
const SHARED = 'nodegit_wrapper.cc'

/** @param {string} file */
function readOnce(file) {
  const text = readFileSync(file, 'utf8')
  const once = '#pragma once\n'
  if (!text.startsWith(once)) writeFileSync(file, once + text)
}

/** What nearly all of these files begin with, in their order; the last two, because they have one guard for both. */
const HEADERS = `#include <nan.h>
#include <string.h>
extern "C" {
#include <git2.h>
}
#include <iostream>
#include "../include/nodegit.h"
#include "../include/lock_master.h"
#include "../include/functions/copy.h"
#include "../include/oid.h"
#include "../include/str_array_converter.h"
#undef STR_ARRAY_H
#include "../include/git_buf_converter.h"
`

const RULES = `
$(OBJS): GYP_CXXFLAGS += -O0 -include headers.hpp
$(OBJS): | headers.hpp.gch
headers.hpp.gch: HEADER_FLAGS := $(DEFS_$(BUILDTYPE)) $(INCS_$(BUILDTYPE)) $(CFLAGS_$(BUILDTYPE)) $(CFLAGS_CC_$(BUILDTYPE)) -O0
headers.hpp.gch: headers.hpp
\t@$(CXX.target) $(HEADER_FLAGS) $(CXXFLAGS.target) -x c++-header $< -o $@
`
