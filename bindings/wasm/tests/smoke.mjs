// smoke.mjs FILE runs a program for WASI that uses no files.
// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const wasi = new WASI({ version: 'preview1', args: ['smoke'], returnOnExit: true });
const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const env = {};
for (const { module: from, name } of WebAssembly.Module.imports(module))
  if (from === 'env')
    env[name] = () => {
      throw new Error(`${name} was called`);
    };
const instance = new WebAssembly.Instance(module, { env, wasi_snapshot_preview1: wasi.wasiImport });
process.exitCode = wasi.start(instance);
