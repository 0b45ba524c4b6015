/**
 * What the picker takes of the libraries that have the terminal for it. Built by itself, because it
 * must be an ES module, and into one file, because to find and read theirs takes twice as long.
 */
export { Box, type Key as InkKey, render, Text, useApp, useInput, useWindowSize } from "ink";
export { createElement, useEffect, useReducer, useState } from "react";
