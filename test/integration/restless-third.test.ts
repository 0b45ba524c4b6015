import { takeRandomSteps } from "../support/restless-steps.ts";

takeRandomSteps(3, { copiesAhead: true });
